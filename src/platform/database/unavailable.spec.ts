import { Prisma } from './generated/client';
import { isUnavailable } from './unavailable';

const known = (code: string, cause?: object) =>
  new Prisma.PrismaClientKnownRequestError('a message', {
    code,
    clientVersion: '7',
    ...(cause && { meta: { driverAdapterError: Object.assign(new Error('a message'), { cause }) } }),
  });

describe('isUnavailable', () => {
  it.each(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'])("recognizes Prisma's %s", (code) => {
    expect(isUnavailable(known(code))).toBe(true);
  });

  it.each(['08006', '25P03', '3D000', '53300', '55000', '55P03', '57014', '57P01', '57P02', '57P03'])(
    'recognizes SQLSTATE %s',
    (code) => {
      for (const by of ['P2010', 'P2039']) {
        expect(isUnavailable(known(by, { kind: 'postgres', originalCode: code }))).toBe(true);
      }
    },
  );

  it('recognizes a raw query that reached no server, and errors of pg without a code', () => {
    expect(isUnavailable(known('P2010', { kind: 'DatabaseNotReachable', port: 1 }))).toBe(true);
    for (const words of ['Connection terminated unexpectedly', 'timeout exceeded when trying to connect']) {
      expect(isUnavailable(new Error(words))).toBe(true);
    }
  });

  it.each(['57P01', '53300', 'ECONNREFUSED', 'ECONNRESET'])('recognizes the code %s of pg itself', (code) => {
    expect(isUnavailable(Object.assign(new Error('a message'), { code }))).toBe(true);
  });

  it('does not accept a mistake of ours', () => {
    for (const code of ['22012', '22P02', '23505', '23514', '40P01', '42501', '42601', '57000']) {
      expect(isUnavailable(known('P2010', { kind: 'postgres', originalCode: code }))).toBe(false);
    }
    for (const other of [
      known('P2002'),
      known('P2010'),
      new TypeError('x is undefined'),
      Object.assign(new Error('a message'), { code: '23505' }),
      Object.assign(new Error('a message'), { code: 'ENOENT' }),
      'Connection terminated',
      null,
    ]) {
      expect(isUnavailable(other)).toBe(false);
    }
  });
});

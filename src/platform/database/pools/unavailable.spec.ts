import { Prisma } from '../generated/client';
import { causeOf, isUnavailable } from './unavailable';

const known = (code: string, cause?: object) =>
  new Prisma.PrismaClientKnownRequestError('a message', {
    code,
    clientVersion: '7',
    ...(cause && { meta: { driverAdapterError: Object.assign(new Error('a message'), { cause }) } }),
  });

describe('isUnavailable', () => {
  it.each(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'])(
    "recognizes Prisma's %s",
    (code) => {
      expect(isUnavailable(known(code))).toBe(true);
    },
  );

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

  it.each([
    ['53100', 'disk_full'],
    ['25006', 'read_only'],
    ['58030', 'io_error'],
    ['58P01', 'io_error'],
    ['XX001', 'io_error'],
    ['XX002', 'io_error'],
    ['53300', 'too_many_connections'],
    ['57P03', 'unreachable'],
  ])('names the cause of SQLSTATE %s: %s', (code, cause) => {
    expect(causeOf(Object.assign(new Error('a message'), { code }))).toBe(cause);
    expect(causeOf(known('P2010', { kind: 'postgres', originalCode: code }))).toBe(cause);
  });

  it('names the cause that Prisma knows by a name of its own', () => {
    expect(causeOf(known('P2037'))).toBe('too_many_connections');
    expect(causeOf(known('P2010', { kind: 'TooManyConnections' }))).toBe('too_many_connections');
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

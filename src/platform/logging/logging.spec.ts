import pino, { LoggerOptions } from 'pino';
import { describeError, loggingOptions } from './logging';

class DatabaseError extends Error {
  constructor(
    message: string,
    readonly code: unknown,
  ) {
    super(message);
  }
}
const PERSON = 'ada@example.com';

describe('describeError', () => {
  it('returns the class, the code and the origin', () => {
    const described = describeError(new DatabaseError(PERSON, '23505'));
    expect(described).toMatchObject({ type: 'DatabaseError', code: '23505' });
    expect(described.at?.[0]).toContain('logging.spec');
    expect(described.at?.length).toBeLessThanOrEqual(8);
  });

  it.each([
    PERSON,
    `one line\n    at ${PERSON} (file.js:1:2)`,
    `    at ${PERSON}:1:2`,
    `$& ${PERSON}\n  at $' x:1:2`,
    `Key (email)=(${PERSON}) already exists.`,
  ])('never returns the message %j', (message) => {
    expect(JSON.stringify(describeError(new DatabaseError(message, PERSON)))).not.toContain('ada');
  });

  it('never returns a message that changed after the stack was written, nor a cause', () => {
    const changed = new Error('second', { cause: new Error(PERSON) });
    changed.stack = `Error: first\n    at ${PERSON} (a.js:1:1)\n    at Pool.query (/app/pool.js:7:1)`;
    expect(describeError(changed)).toEqual({ type: 'Error', at: ['at Pool.query (/app/pool.js:7:1)'] });
  });

  it.each([PERSON, { name: PERSON }, null, undefined, 7])(
    'returns only the type of %j, which is no error',
    (thrown) => {
      expect(describeError(thrown)).toEqual({ type: typeof thrown });
    },
  );
});

describe('loggingOptions', () => {
  const logged = (...line: [object, ...(string | undefined)[]]) => {
    let text = '';
    const options = loggingOptions('info', 'proxy').pinoHttp as LoggerOptions;
    pino(options, { write: (one: string) => void (text += one) }).error(...line);
    return JSON.parse(text) as Record<string, unknown>;
  };

  it.each<[string, object]>([
    ['an error', new DatabaseError(PERSON, '23505')],
    ['an error beside other names', { call_id: 'id', err: new DatabaseError(PERSON, '23505') }],
    ['something thrown that is no error', { err: { message: PERSON } }],
  ])('describes %s with a safe text instead of its own message', (_what, line) => {
    expect(JSON.stringify(logged(line))).not.toContain('ada');
    expect(logged(line)).toMatchObject({ level: 'error', msg: 'an error', err: {} });
    expect(logged(line, undefined)).toEqual({ ...logged(line), time: expect.any(String) }); // as Nest's logger calls
  });

  it('logs given texts unchanged', () => {
    expect(logged({ err: new Error(PERSON) }, 'request failed')).toMatchObject({ msg: 'request failed' });
    expect(logged({ call_id: 'id' })).toMatchObject({ call_id: 'id' });
  });

  it('logs nothing per request, and errors only in described form', () => {
    expect(loggingOptions('info', 'proxy')).toMatchObject({
      forRoutes: [],
      pinoHttp: { level: 'info', base: { process: 'proxy' }, serializers: { err: describeError } },
    });
  });
});

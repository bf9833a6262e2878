import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
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
    ['an error with other fields', { call_id: 'id', err: new DatabaseError(PERSON, '23505') }],
    ['something thrown that is no error', { err: { message: PERSON } }],
  ])('describes %s with a safe text instead of its own message', (_what, line) => {
    expect(JSON.stringify(logged(line))).not.toContain('ada');
    expect(logged(line)).toMatchObject({ level: 'error', msg: 'an error', err: {} });
    // as Nest's logger calls
    expect(logged(line, undefined)).toEqual({ ...logged(line), time: expect.any(String) });
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

describe('the log of a process', () => {
  const built = join(__dirname, '..', '..', '..', 'dist', 'platform', 'logging', 'logging.js');
  /** Logs two lines with a pause, so that the second meets the failure of the first, and ends at once. */
  const program = `
    const { stream, ...options } = require(${JSON.stringify(built)}).loggingOptions('info', 'proxy').pinoHttp;
    const log = require('pino')(options, stream);
    process.send('running');
    process.once('message', (pause) => {
      log.info('first');
      setTimeout(() => { log.info('second'); process.exit(7); }, pause);
    });`;
  const full = () => openSync('/dev/full', 'w');
  it.each<[string, number, 'pipe' | (() => number)]>([
    ['is gone', 0, 'pipe'],
    ['was gone before', 300, 'pipe'],
    ['is a full disk', 0, full],
    ['was a full disk before', 300, full],
  ])('does not keep it from its end if its reader %s', async (_what, pause, stdout) => {
    const to = typeof stdout === 'function' ? stdout() : stdout;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', to, 'inherit', 'ipc'] });
    const exit = once(child, 'exit');
    await once(child, 'message');
    child.stdout?.destroy();
    child.send(pause);
    const killing = setTimeout(() => child.kill('SIGKILL'), 4_000);
    expect(await exit).toEqual([7, null]);
    clearTimeout(killing);
  });

  it('reaches a reader completely, also at its end', async () => {
    const many = program.replace(
      `log.info('first');`,
      `for (let i = 0; i < 20_000; i++) log.info('line ' + i);`,
    );
    const child = spawn(process.execPath, ['-e', many], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'message');
    child.send(500);
    await once(child, 'close');
    const texts = said
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(texts).toEqual([...Array(20_000).keys()].map((i) => `line ${i}`).concat('second'));
  });
});

import { format, inspect } from 'node:util';
import pino from 'pino';
import { Secret } from './secret';

const VALUE = 'a-key-that-must-not-be-seen';

describe('Secret', () => {
  const secret = new Secret(VALUE);

  it('returns its value with reveal', () => {
    expect(secret.reveal()).toBe(VALUE);
  });

  it.each<[string, () => string]>([
    ['a template', () => `${String(secret)}`],
    ['a concatenation', () => 'key ' + String(secret)],
    ['JSON', () => JSON.stringify({ secret, list: [secret] })],
    [
      'inspect, of itself and of what holds it',
      () => inspect(secret) + inspect({ deep: { secret } }, { depth: 9, showHidden: true }),
    ],
    ['format', () => format('%s %o %O %j', secret, secret, secret, secret)],
    [
      'its own names, values and copies',
      () => JSON.stringify([Object.entries(secret), { ...secret }, structuredClone({ ...secret })]),
    ],
    [
      'an error',
      () =>
        String(new Error('wrong key', { cause: secret }).cause) + inspect(new Error('x', { cause: secret })),
    ],
  ])('hides its value in %s', (_where, show) => {
    expect(show()).not.toContain(VALUE);
  });

  it('hides its value in a log line', () => {
    let lines = '';
    pino({}, { write: (line: string) => void (lines += line) }).info(
      { secret, settings: { secret } },
      'of %s',
      secret,
    );
    expect(lines).toContain('[secret]');
    expect(lines).not.toContain(VALUE);
  });
});

import { readIdempotencyKey } from './idempotency-key';

describe('an idempotency key', () => {
  it.each([
    ['k-1', 'k-1'],
    ['"k-1"', 'k-1'],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['k'.repeat(255), 'k'.repeat(255)],
    ['a"b', 'a"b'],
    [undefined, null],
  ])('is read from %s as %s', (header, key) => expect(readIdempotencyKey(header)).toBe(key));

  it.each(['', '""', '" "', 'a b', 'k, k', '"k", "k"', 'k'.repeat(256), `"${'k'.repeat(256)}"`, 'schlüssel', 'a\tb'])(
    'is rejected for %j',
    (header) => expect(() => readIdempotencyKey(header)).toThrow(/Idempotency-Key must be/),
  );
});

import { readIdempotencyKey } from './idempotency-key';

describe('an idempotency key', () => {
  it.each([
    ['k-1', 'k-1'],
    ['"k-1"', 'k-1'],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['k'.repeat(255), 'k'.repeat(255)],
    ['a"b', 'a"b'],
    ['payout@2026-11-28', 'payout@2026-11-28'],
    ['jobs/@2026-11-28/7', 'jobs/@2026-11-28/7'],
    ['k==/+12345678=', 'k==/+12345678='],
    ['node@20.19.0', 'node@20.19.0'],
    ['job@localhost:7', 'job@localhost:7'],
    ['q83v+1234567890abc/A==', 'q83v+1234567890abc/A=='],
    [undefined, null],
  ])('is read from %s as %s', (header, key) => expect(readIdempotencyKey(header)).toBe(key));

  it.each([
    '',
    '""',
    '" "',
    'a b',
    'k, k',
    '"k", "k"',
    'k'.repeat(256),
    `"${'k'.repeat(256)}"`,
    'schlüssel',
    'a\tb',
  ])('is rejected for %j', (header) =>
    expect(() => readIdempotencyKey(header)).toThrow(/Idempotency-Key must be/),
  );

  it.each([
    'ada@example.com',
    'order-17/ada@mail.example.co',
    '17:ada@xn--bcher-kva.example',
    'ADA@EXAMPLE.COM-17',
    '@ada',
    '@ada.lovelace',
    'pay-@AdaLovelace',
    'jobs/@weekly/7', // may be a handle as well
    '+254712345678',
    'pay+254712345678',
    'order/+254712345678/7',
    '+254-712-345-678:1',
    '+254(712)345678',
  ])('is rejected for the contact in %s', (header) =>
    expect(() => readIdempotencyKey(header)).toThrow(/must not contain an email address/),
  );
});

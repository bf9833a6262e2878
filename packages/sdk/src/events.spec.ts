import { createHmac } from 'node:crypto';
import { VerificationError } from './errors.ts';
import { verifyEvent } from './events.ts';

/** Example of https://github.com/standard-webhooks/standard-webhooks, "Signature scheme". */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const now = new Date(1_614_265_330_000);
const check = (
  headers: Record<string, string> = HEADERS,
  body: string | Uint8Array = BODY,
  secret = SECRET,
) => verifyEvent(body, headers, secret, { now });

describe('verifyEvent', () => {
  it('accepts the example of Standard Webhooks', async () => {
    const expected = { id: HEADERS['webhook-id'], at: now, payload: { test: 2432232314 } };
    expect(await check()).toEqual(expected);
    expect(await verifyEvent(Buffer.from(BODY), new Headers(HEADERS), SECRET, { now })).toEqual(expected);
    const upper = Object.fromEntries(
      Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await check(upper)).toEqual(expected);
  });

  it('accepts one valid signature among several, by any of several secrets', async () => {
    const other = `v1,${createHmac('sha256', 'x').update('y').digest('base64')}`;
    const several = `v1a,abc ${other} ${HEADERS['webhook-signature']}`;
    expect(await check({ ...HEADERS, 'webhook-signature': several })).toMatchObject({ at: now });
    const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, SECRET];
    expect(await verifyEvent(BODY, HEADERS, secrets, { now })).toMatchObject({ at: now });
  });

  it.each<[string, Record<string, string>, string?]>([
    ['another body', {}, '{"test": 2432232315}'],
    ['another id', { 'webhook-id': 'msg_2' }],
    ['another time', { 'webhook-timestamp': '1614265331' }],
    ['another signature', { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
    [
      'a signature of another version',
      { 'webhook-signature': HEADERS['webhook-signature'].replace('v1', 'v2') },
    ],
    ['no signature', { 'webhook-signature': '' }],
    ['a time that is not a number', { 'webhook-timestamp': '1614265330.5' }],
  ])('rejects %s', async (_case, headers, body = BODY) => {
    await expect(check({ ...HEADERS, ...headers }, body)).rejects.toBeInstanceOf(VerificationError);
  });

  it('rejects an event more than five minutes before or after now', async () => {
    for (const seconds of [301, -301]) {
      const later = new Date(now.getTime() + seconds * 1_000);
      await expect(verifyEvent(BODY, HEADERS, SECRET, { now: later })).rejects.toThrow(
        'more than 300 seconds',
      );
    }
    const late = { now: new Date(now.getTime() + 301_000), toleranceSeconds: 600 };
    expect(await verifyEvent(BODY, HEADERS, SECRET, late)).toMatchObject({ at: now });
  });

  it.each(['', 'whsec_', 'short', 'whsec_AAAA'])('rejects a short secret: %j', async (secret) => {
    await expect(check(HEADERS, BODY, secret)).rejects.toBeInstanceOf(TypeError);
    await expect(verifyEvent(BODY, HEADERS, [], { now })).rejects.toBeInstanceOf(VerificationError);
  });
});

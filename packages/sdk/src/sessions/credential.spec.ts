import { PayoutProxy } from '../client.ts';
import { PayoutProxyError } from '../errors.ts';

const baseUrl = 'https://payouts.example.com';
const BODY = { credits: [{ email: 'ada@example.com', valueInUSD: '1' }] };
const tokenOf = (claims: object) => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const ADA = tokenOf({ iss: 'https://id.example', sub: 'ada' });
const BOB = tokenOf({ iss: 'https://id.example', sub: 'bob' });

/** A lost request, a rejection of the credential, and a success. */
const lost = () => Promise.reject(new TypeError('terminated'));
const answering = (body: object) => () =>
  Promise.resolve(new Response(JSON.stringify(body), { headers: { 'X-Call-Id': 'id' } }));
const expired = answering({ error: 'ended', code: 'token_expired', action: 'fix_request', call_id: 'id' });
const paid = answering({ status: 'success', data: {} });

describe('a payment', () => {
  const { atob, btoa, TextDecoder } = globalThis;
  afterEach(() => Object.assign(globalThis, { atob, btoa, TextDecoder }));

  /** Pays with one of these credentials per attempt. Returns the sent credentials. */
  async function pay(
    credentials: Record<string, string>[],
    answers = [lost, paid],
  ): Promise<(string | null)[]> {
    const sent: (string | null)[] = [];
    const client = new PayoutProxy({
      baseUrl,
      authorize: () => credentials.shift() ?? {},
      refresh: () => undefined,
      retries: { firstMs: 1 },
      fetch: (_url, init) => {
        const headers = new Headers(init?.headers);
        sent.push(headers.get('Authorization') ?? headers.get('X-API-Key'));
        return (answers.shift() ?? paid)();
      },
    });
    await client.payouts
      .credit(BODY)
      .send()
      .catch((error: unknown) => expect(error).toBeInstanceOf(PayoutProxyError));
    return sent;
  }

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  it.each([
    [
      'another token of the same person',
      bearer(ADA),
      bearer(tokenOf({ iss: 'https://id.example', sub: 'ada', n: 2 })),
    ],
    ['the same opaque token', bearer('opaque'), bearer('opaque')],
    ['a renewed key', { 'X-API-Key': 'ppe_one' }, { 'X-API-Key': 'ppe_two' }],
  ])('continues with %s', async (_case, first, second) => {
    for (const answers of [
      [lost, paid],
      [expired, paid],
    ])
      expect(await pay([first, second], answers)).toHaveLength(2);
  });

  it.each([
    ['the token of another person', bearer(ADA), bearer(BOB)],
    ['an opaque token after a readable one', bearer(ADA), bearer('opaque')],
    ['a readable token after an opaque one', bearer('opaque'), bearer(ADA)],
    ['another opaque token', bearer('one'), bearer('two')],
    ['a token without a person', bearer(tokenOf({ iss: 'x' })), bearer(tokenOf({ iss: 'x', n: 2 }))],
    ['a key after a token', bearer(ADA), { 'X-API-Key': 'pp_key' }],
    ['a token after a key', { 'X-API-Key': 'pp_key' }, bearer(ADA)],
  ])('never continues with %s', async (_case, first, second) => {
    for (const answers of [
      [lost, paid],
      [expired, paid],
    ])
      expect(await pay([first, second], answers)).toHaveLength(1);
  });

  it.each(['atob', 'btoa', 'TextDecoder'])('keeps its person in a runtime without %s', async (missing) => {
    Object.assign(globalThis, { [missing]: undefined });
    expect(await pay([bearer(ADA), bearer(BOB)])).toHaveLength(1);
    expect(await pay([bearer(ADA), bearer(ADA)])).toHaveLength(2);
    const client = new PayoutProxy({
      baseUrl,
      accessToken: tokenOf({ iss: 'https://id.example', sub: 'żaneta ✓' }),
    });
    expect(await client.payer()).toBe('["https://id.example","żaneta ✓"]');
  });
});

describe('an empty credential', () => {
  it.each([{ apiKey: '' }, { apiKey: ' ' }, { accessToken: '' }])(
    'is rejected by the constructor: %j',
    (options) => {
      expect(() => new PayoutProxy({ baseUrl, ...options })).toThrow('The credential is empty');
    },
  );

  it.each([
    { apiKey: () => '' },
    { accessToken: () => Promise.resolve('') },
    { apiKey: () => undefined as unknown as string },
    { accessToken: ADA, refresh: () => '' },
  ])('is rejected before it is sent: %j', async (options) => {
    const fetched = jest.fn(expired);
    const client = new PayoutProxy({ baseUrl, ...options, fetch: fetched });
    await expect(client.payouts.credit(BODY).send()).rejects.toThrow('The credential is empty');
    expect(fetched.mock.calls.length).toBe('refresh' in options ? 1 : 0);
  });
});

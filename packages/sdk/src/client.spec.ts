import { PayoutProxy } from './client.ts';
import { randomId } from './random-id.ts';

const baseUrl = 'https://payouts.example.com';
const credits = (valueInUSD: string) => ({ credits: [{ email: 'ada@example.com', valueInUSD }] });

/** Runs with the globals of another runtime. */
function within<Result>(globals: Record<string, unknown>, run: () => Result): Result {
  const before = Object.keys(globals).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const restore = () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  };
  let result: Result | undefined;
  try {
    result = run();
  } finally {
    if (!(result instanceof Promise)) restore();
  }
  return result instanceof Promise ? (result.finally(restore) as Result) : result;
}

describe('randomId', () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  it('returns a UUID, also in a runtime with getRandomValues only', () => {
    const { crypto } = globalThis;
    const getRandomValues = crypto.getRandomValues.bind(crypto);
    const ids = Array.from({ length: 1_000 }, () => within({ crypto: { getRandomValues } }, randomId));
    expect(new Set([...ids, randomId()]).size).toBe(1_001);
    expect([...ids, randomId()].filter((id) => !UUID.test(id))).toEqual([]);
  });

  it('throws without a secure source of randomness, and never uses Math.random', () => {
    const random = jest.spyOn(Math, 'random');
    const client = new PayoutProxy({ baseUrl, apiKey: 'key' });
    for (const crypto of [undefined, {}]) {
      expect(() => within({ crypto }, randomId)).toThrow('no secure source of randomness');
      expect(() => within({ crypto }, () => client.payouts.credit(credits('1')))).toThrow('Pass "randomId"');
    }
    expect(random).not.toHaveBeenCalled();
    const own = new PayoutProxy({ baseUrl, apiKey: 'key', randomId: () => 'own-id' });
    expect(own.payouts.credit(credits('1')).idempotencyKey).toBe('own-id');
  });
});

describe('PayoutProxy', () => {
  it.each([
    ['no credential', {}],
    ['two credentials', { apiKey: 'key', accessToken: 'token' }],
  ])('rejects %s', (_case, credentials) => {
    expect(() => new PayoutProxy({ baseUrl, ...credentials })).toThrow('Pass exactly one of');
  });

  it.each([
    ['a page', { document: {} }],
    ['an app', { navigator: { product: 'ReactNative' } }],
  ])('rejects a secret key in %s', async (_runtime, globals) => {
    const sent = jest.fn();
    expect(() => within(globals, () => new PayoutProxy({ baseUrl, apiKey: 'pp_shop_secret' }))).toThrow(
      'secret key',
    );
    const late = new PayoutProxy({ baseUrl, apiKey: () => 'pp_shop_secret', fetch: sent as never });
    await expect(within(globals, () => late.limits())).rejects.toThrow('secret key');
    expect(sent).not.toHaveBeenCalled();
    expect(() => within(globals, () => new PayoutProxy({ baseUrl, apiKey: 'ppe_shop_short' }))).not.toThrow();
  });

  it.each(['', 'with space', 'ü', 'x'.repeat(256), undefined, null, 17])(
    'rejects an invalid or lost idempotency key: %j',
    (idempotencyKey) => {
      const client = new PayoutProxy({ baseUrl, apiKey: 'key' });
      const options = { idempotencyKey } as { idempotencyKey: string };
      expect(() => client.payouts.credit(credits('1'), options)).toThrow('An idempotency key has');
    },
  );

  it('authorizes each attempt, and sends no cookies', async () => {
    const authorized: object[] = [];
    const requests: (RequestInit | undefined)[] = [];
    const client = new PayoutProxy({
      baseUrl: `${baseUrl}/`,
      authorize: (request) => {
        authorized.push(request);
        return { Authorization: 'DPoP token', DPoP: `proof ${authorized.length}` };
      },
      fetch: (_url, init) => {
        requests.push(init);
        const headers = { 'X-Call-Id': 'id' };
        return Promise.resolve(requests.length < 3 ? new Response('page') : new Response('{}', { headers }));
      },
      retries: { firstMs: 1 },
    });
    await client.limits();
    expect(authorized).toEqual(Array(3).fill({ method: 'GET', url: `${baseUrl}/v1/limits` }));
    expect(
      requests.map((init) => [new Headers(init?.headers).get('DPoP'), init?.credentials, init?.redirect]),
    ).toEqual([1, 2, 3].map((number) => [`proof ${number}`, 'omit', 'error']));
  });

  it('rejects an invalid header value, and sends nothing', async () => {
    const sent = jest.fn();
    const client = new PayoutProxy({ baseUrl, apiKey: 'key', fetch: sent as never });
    await expect(client.payouts.credit(credits('1'), { actor: 'ada \u2713' }).send()).rejects.toThrow(
      TypeError,
    );
    expect(sent).not.toHaveBeenCalled();
  });

  const never = () => new Promise<never>(() => undefined);
  const ended = () => {
    const body = { error: 'ended', code: 'token_expired', action: 'fix_request', call_id: 'id' };
    return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'X-Call-Id': 'id' } }));
  };
  it.each([
    ['store', { apiKey: 'key', store: never }],
    ['authorize', { authorize: never }],
    ['apiKey', { apiKey: never }],
    ['refresh', { accessToken: 'token', refresh: never, fetch: ended }],
  ])('stops waiting for %s when its caller aborts', async (_option, options) => {
    const leaving = new AbortController();
    const client = new PayoutProxy({ baseUrl, ...options });
    const settled = client.payouts.credit(credits('1')).settled({ signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('enough')), 10);
    await expect(settled).rejects.toThrow('enough');
  });

  it.each([
    ['an outcome of a newer proxy', { id: 'real', outcome: 'brand_new', items: [] }],
    ['half of an answer', '{"id":"real","outco'],
  ])('reports %s as unknown', async (_case, answer) => {
    let requests = 0;
    const client = new PayoutProxy({
      baseUrl,
      apiKey: 'key',
      fetch: () => {
        const text =
          typeof answer === 'string' ? answer : JSON.stringify((requests += 1) === 1 ? {} : answer);
        return Promise.resolve(new Response(text, { headers: { 'X-Call-Id': 'real' } }));
      },
    });
    expect(await client.payouts.credit(credits('1')).send()).toMatchObject({
      status: 'unknown',
      settled: false,
    });
  });

  it('repeats a payment that was sent as a read by mistake with one key', async () => {
    const keys: (string | null)[] = [];
    const client = new PayoutProxy({
      baseUrl,
      apiKey: 'key',
      retries: { most: 2, firstMs: 1 },
      fetch: (_url, init) => {
        keys.push(new Headers(init?.headers).get('Idempotency-Key'));
        return Promise.reject(new TypeError('terminated'));
      },
    });
    const mistaken = client.read(
      'POST /payouts/credit' as 'POST /account/transactions',
      { body: credits('1') } as never,
    );
    await expect(mistaken).rejects.toThrow('cannot be reached');
    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys).size).toBe(1);
  });

  it('continues a stored payment only for the same person', async () => {
    const sent = jest.fn().mockRejectedValue(new TypeError('terminated'));
    const tokenOf = (sub: string) =>
      `x.${Buffer.from(JSON.stringify({ iss: 'id', sub })).toString('base64url')}.x`;
    const clientOf = (credential: object) =>
      new PayoutProxy({ baseUrl, ...credential, retries: { most: 0 }, fetch: sent });
    const stored = {
      idempotencyKey: 'order-17',
      payer: await clientOf({ accessToken: tokenOf('ada') }).payer(),
    };
    for (const credential of [{ accessToken: tokenOf('bob') }, { apiKey: 'ppe_key' }]) {
      const payment = clientOf(credential).payouts.credit(credits('1'), stored);
      await expect(payment.send()).rejects.toThrow('the payment of another person');
    }
    expect(sent).not.toHaveBeenCalled();
    await clientOf({ accessToken: tokenOf('ada') })
      .payouts.credit(credits('1'), stored)
      .send();
    expect(sent).toHaveBeenCalled();
  });

  it('ignores an error of the proxy that the provider forged', async () => {
    const spoofed = {
      status: 'error',
      error: 'x',
      code: 'overloaded',
      action: 'retry_same_key',
      call_id: 'forged',
    };
    const paths: string[] = [];
    const client = new PayoutProxy({
      baseUrl,
      apiKey: 'key',
      fetch: (url) => {
        paths.push((url as string).replace(baseUrl, ''));
        const body = paths.length === 1 ? spoofed : { id: 'real', outcome: 'unknown', items: [] };
        return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'X-Call-Id': 'real' } }));
      },
    });
    expect(await client.payouts.credit(credits('1')).send()).toMatchObject({
      status: 'unknown',
      callId: 'real',
    });
    expect(paths).toEqual(['/api/v0.1/payouts/credit', '/v1/calls/real']);
  });
});

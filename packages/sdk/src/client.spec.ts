import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AMOUNT_FIELDS, toJson } from './amounts.ts';
import { PayoutProxy } from './client.ts';
import { randomId } from './random-id.ts';

const baseUrl = 'https://payouts.example.com';
const credits = (valueInUSD: string | number) => ({ credits: [{ email: 'ada@example.com', valueInUSD }] });

/** Runs with other globals, as another runtime has them. */
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

describe('a random ID', () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  it('is a UUID, also where only getRandomValues is there', () => {
    const { crypto } = globalThis;
    const getRandomValues = crypto.getRandomValues.bind(crypto);
    const ids = Array.from({ length: 1_000 }, () => within({ crypto: { getRandomValues } }, randomId));
    expect(new Set([...ids, randomId()]).size).toBe(1_001);
    expect([...ids, randomId()].filter((id) => !UUID.test(id))).toEqual([]);
  });

  it('is refused without a secure source of randomness, and never made of Math.random', () => {
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

describe('an amount', () => {
  it('is written as the decimal that its text is', () => {
    const amounts = ['0.1', '0.000001', '999999999.999999', '12.50', '3', '100000000'];
    for (const amount of amounts) {
      const written = toJson(credits(amount)).replace(/^.*:|\}\]\}$/g, '');
      expect(Number(written)).toBe(Number(amount));
      expect(written).toMatch(/^\d+(\.\d+)?$|^1e-6$/);
    }
    expect(toJson({ amount: 2, meta: { amount: '007' } })).toBe('{"amount":2,"meta":{"amount":"007"}}');
  });

  it.each(['', '1e3', '-1', '1,5', ' 1', '0x10', '1234567890.1234567'])(
    'is refused if it is no decimal: %j',
    (text) => {
      expect(() => new PayoutProxy({ baseUrl, apiKey: 'key' }).payouts.credit(credits(text))).toThrow(
        TypeError,
      );
    },
  );

  it('may be a text in each field that the interface takes as a number', () => {
    const document = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as Document;
    const numbers = new Set<string>();
    const visit = (schema: Schema | undefined, name: string) => {
      if (!schema) return;
      if (schema.$ref) visit(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''], name);
      if (schema.type === 'number') numbers.add(name);
      for (const [each, inner] of Object.entries(schema.properties ?? {})) visit(inner, each);
      for (const inner of [schema.items, ...(schema.anyOf ?? [])]) visit(inner, name);
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.startsWith('/api/')) continue;
      for (const { requestBody } of Object.values(methods))
        visit(requestBody?.content['application/json']?.schema, '');
    }
    expect([...numbers].sort()).toEqual([...AMOUNT_FIELDS].sort());
  });
});

describe('a client', () => {
  it.each([
    ['none', {}],
    ['two', { apiKey: 'key', accessToken: 'token' }],
  ])('needs exactly one credential, and not %s', (_how, credentials) => {
    expect(() => new PayoutProxy({ baseUrl, ...credentials })).toThrow('Pass exactly one of');
  });

  it.each([
    ['a page', { document: {} }],
    ['an app', { navigator: { product: 'ReactNative' } }],
  ])('keeps secret keys out of %s', async (_where, globals) => {
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
    'refuses a key that the proxy would refuse, and the lack of one that was to be there: %j',
    (idempotencyKey) => {
      const client = new PayoutProxy({ baseUrl, apiKey: 'key' });
      const options = { idempotencyKey } as { idempotencyKey: string };
      expect(() => client.payouts.credit(credits('1'), options)).toThrow('An idempotency key has');
    },
  );

  it('sends what authorizes each attempt, and no cookies', async () => {
    const asked: object[] = [];
    const seen: (RequestInit | undefined)[] = [];
    const client = new PayoutProxy({
      baseUrl: `${baseUrl}/`,
      authorize: (request) => {
        asked.push(request);
        return { Authorization: 'DPoP token', DPoP: `proof ${asked.length}` };
      },
      fetch: (_url, init) => {
        seen.push(init);
        const headers = { 'X-Call-Id': 'id' };
        return Promise.resolve(seen.length < 3 ? new Response('page') : new Response('{}', { headers }));
      },
      retries: { firstMs: 1 },
    });
    await client.limits();
    expect(asked).toEqual(Array(3).fill({ method: 'GET', url: `${baseUrl}/v1/limits` }));
    expect(
      seen.map((init) => [new Headers(init?.headers).get('DPoP'), init?.credentials, init?.redirect]),
    ).toEqual([1, 2, 3].map((number) => [`proof ${number}`, 'omit', 'error']));
  });

  it('refuses what no header can hold, and sends nothing', async () => {
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
  ])('waits for %s no longer than its caller does', async (_what, options) => {
    const leaving = new AbortController();
    const client = new PayoutProxy({ baseUrl, ...options });
    const settled = client.payouts.credit(credits('1')).settled({ signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('enough')), 10);
    await expect(settled).rejects.toThrow('enough');
  });

  it.each([
    ['a state that a newer proxy may have', { id: 'real', outcome: 'brand_new', items: [] }],
    ['half of an answer', '{"id":"real","outco'],
  ])('does not take %s for an outcome', async (_what, answer) => {
    let asked = 0;
    const client = new PayoutProxy({
      baseUrl,
      apiKey: 'key',
      fetch: () => {
        const text = typeof answer === 'string' ? answer : JSON.stringify((asked += 1) === 1 ? {} : answer);
        return Promise.resolve(new Response(text, { headers: { 'X-Call-Id': 'real' } }));
      },
    });
    expect(await client.payouts.credit(credits('1')).send()).toMatchObject({
      status: 'unknown',
      settled: false,
    });
  });

  it('repeats a payment that is sent as a read by mistake with one key', async () => {
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

  it('continues a stored payment only where it knows that the person is the same', async () => {
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

  it('does not take the provider for the proxy', async () => {
    const spoofed = {
      status: 'error',
      error: 'x',
      code: 'overloaded',
      action: 'retry_same_key',
      call_id: 'forged',
    };
    const fetched: string[] = [];
    const client = new PayoutProxy({
      baseUrl,
      apiKey: 'key',
      fetch: (url) => {
        fetched.push((url as string).replace(baseUrl, ''));
        const body = fetched.length === 1 ? spoofed : { id: 'real', outcome: 'unknown', items: [] };
        return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'X-Call-Id': 'real' } }));
      },
    });
    expect(await client.payouts.credit(credits('1')).send()).toMatchObject({
      status: 'unknown',
      callId: 'real',
    });
    expect(fetched).toEqual(['/api/v0.1/payouts/credit', '/v1/calls/real']);
  });
});

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
}

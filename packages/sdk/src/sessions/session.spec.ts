import type { StoredPayment } from '../attempts.ts';
import { PayoutProxy } from '../client.ts';
import { AuthenticationError, NetworkError } from '../errors.ts';

const baseUrl = 'https://payouts.example.com';
const body = { credits: [{ email: 'ada@example.com', valueInUSD: '1' }] };
const RETRIES = { most: 2, firstMs: 1, longestMs: 10 };

/** A browser with one cookie, and the proxy's answers to it. */
class Browser {
  /** Person and secret of the cookie. */
  cookie: { person: string; secret: number } | undefined;
  /** Requests in order. */
  readonly requests: { method: string; path: string; init: RequestInit | undefined; paidBy?: string }[] = [];
  /** Returns an error for requests to fail. */
  failing: (method: string, path: string) => Error | undefined = () => undefined;
  private secrets = 0;

  signIn(person: string): void {
    this.cookie = { person, secret: (this.secrets += 1) };
  }

  readonly fetch = (url: string, init?: RequestInit): Promise<Response> => {
    const path = url.replace(baseUrl, '');
    const method = init?.method ?? 'GET';
    const request = { method, path, init };
    this.requests.push(request);
    const failure = this.failing(method, path);
    if (failure) return Promise.reject(failure);
    const answer = this.answer(method, path, new Headers(init?.headers).get('x-csrf-token'));
    if (answer.status === 200 && method === 'POST') Object.assign(request, { paidBy: this.cookie?.person });
    const headers = { 'X-Call-Id': answer.body.call_id ?? 'call' };
    return Promise.resolve(new Response(JSON.stringify(answer.body), { status: answer.status, headers }));
  };

  client = (options: object = {}) =>
    new PayoutProxy({
      baseUrl: `${baseUrl}/`,
      session: { client: 'wallet' },
      fetch: this.fetch as never,
      retries: RETRIES,
      ...options,
    });

  get paths(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  get payers(): (string | undefined)[] {
    return this.requests.flatMap(({ paidBy }) => (paidBy === undefined ? [] : [paidBy]));
  }

  private answer(
    method: string,
    path: string,
    token: string | null,
  ): { status: number; body: Record<string, string> } {
    const refusal = (status: number, code: string, action: string) => ({
      status,
      body: { code, action, error: code, call_id: 'refused' },
    });
    if (!this.cookie) return refusal(401, path === SESSION ? 'session_ended' : 'missing_key', 'ask');
    const { person, secret } = this.cookie;
    const session = { client: 'wallet', person_id: person, csrf_token: `token ${secret}` };
    if (method === 'GET' && path === SESSION) return { status: 200, body: session };
    if (token !== `token ${secret}`) return refusal(403, 'csrf', 'fix_request');
    if (method !== 'DELETE') return { status: 200, body: { status: 'success' } };
    this.cookie = undefined;
    return { status: 200, body: { end_session_url: 'https://login.example.com/end' } };
  }
}

const SESSION = '/v1/page-sessions/wallet';
const PAY = 'POST /api/v0.1/payouts/credit';

describe('a client with a session', () => {
  let browser: Browser;

  beforeEach(() => {
    browser = new Browser();
    browser.signIn('alice');
  });

  it('reads the session once for all requests, and sends its cookie and token with each', async () => {
    const client = browser.client();
    await Promise.all([client.limits(), client.payouts.credit(body).send(), client.limits()]);
    await client.limits();
    expect(browser.paths.filter((path) => path === `GET ${SESSION}`)).toHaveLength(1);
    expect(browser.paths[0]).toBe(`GET ${SESSION}`);
    expect(new Set(browser.requests.map(({ init }) => init?.credentials))).toEqual(new Set(['include']));
    const tokens = browser.requests
      .slice(1)
      .map(({ init }) => new Headers(init?.headers).get('x-csrf-token'));
    expect(tokens).toEqual(Array(4).fill('token 1'));
  });

  it('uses the session that the page has read', async () => {
    const client = browser.client();
    expect(await client.session.read()).toMatchObject({ person_id: 'alice' });
    await client.limits();
    expect(browser.paths).toEqual([`GET ${SESSION}`, 'GET /v1/limits']);
  });

  it('pays once after a new sign-in of the same person in another tab', async () => {
    const client = browser.client();
    await client.session.read();
    browser.signIn('alice');
    const payment = client.payouts.credit(body);
    expect(await payment.send()).toMatchObject({ status: 'succeeded' });
    expect(browser.paths.slice(1)).toEqual([PAY, `GET ${SESSION}`, PAY]);
    const keys = browser.requests.filter(({ method }) => method === 'POST');
    expect(keys.map(({ init }) => new Headers(init?.headers).get('idempotency-key'))).toEqual(
      Array(2).fill(payment.idempotencyKey),
    );
    expect(browser.payers).toEqual(['alice']);
  });

  it('never sends the payment of one person for another', async () => {
    const client = browser.client();
    const payment = client.payouts.credit(body);
    browser.failing = (method) => (method === 'POST' ? new TypeError('terminated') : undefined);
    expect(await payment.send()).toMatchObject({ status: 'unknown' }); // it may have arrived for alice
    browser.signIn('bob');
    browser.failing = () => undefined;
    const result = await payment.send();
    expect(result).toMatchObject({ status: 'unknown', error: { code: 'session_ended' } });
    const another = await client.payouts.credit(body).send();
    expect(another).toMatchObject({ status: 'rejected', error: { code: 'session_ended' } });
    expect(await client.session.read()).toMatchObject({ person_id: 'bob' });
    await expect(client.limits()).rejects.toThrow('Another person has signed in');
    expect(browser.payers).toEqual([]);
    browser.signIn('alice');
    expect(await payment.send()).toMatchObject({ status: 'succeeded' });
    expect(browser.payers).toEqual(['alice']);
  });

  it('continues a payment after the sign-in, with the same key', async () => {
    const client = browser.client();
    await client.session.read();
    browser.cookie = undefined;
    const payment = client.payouts.credit(body);
    const ended = await payment.send();
    expect(ended).toMatchObject({ status: 'rejected', settled: true, error: { code: 'session_ended' } });
    expect('error' in ended && ended.error).toBeInstanceOf(AuthenticationError);
    browser.signIn('alice');
    expect(await payment.send()).toMatchObject({ status: 'succeeded', idempotencyKey: ended.idempotencyKey });
    expect(browser.payers).toEqual(['alice']);
  });

  it('continues a stored payment for its person only, also after a reload', async () => {
    const stored: StoredPayment[] = [];
    const store = (payment: StoredPayment) => void stored.push(payment);
    const payment = browser.client({ store }).payouts.credit(body);
    browser.failing = (method) => (method === 'POST' ? new TypeError('terminated') : undefined);
    expect(await payment.send()).toMatchObject({ status: 'unknown' }); // it may have arrived
    expect(stored).toMatchObject([{ idempotencyKey: payment.idempotencyKey, payer: 'alice' }]);
    browser.failing = () => undefined;
    const { idempotencyKey, payer } = stored[0] ?? {};
    const continued = () =>
      browser
        .client()
        .payouts.credit(body, { idempotencyKey: idempotencyKey ?? '', payer })
        .send();
    browser.signIn('bob');
    await expect(continued()).rejects.toThrow('the payment of another person');
    expect(browser.payers).toEqual([]);
    browser.signIn('alice');
    expect(await continued()).toMatchObject({ status: 'succeeded', idempotencyKey });
    expect(browser.payers).toEqual(['alice']);
  });

  it('stores a payment again once its person is known', async () => {
    browser.cookie = undefined;
    const stored: (string | undefined)[] = [];
    const client = browser.client({ store: ({ payer }: StoredPayment) => void stored.push(payer) });
    const payment = client.payouts.credit(body);
    expect(await payment.send()).toMatchObject({ status: 'rejected', error: { code: 'session_ended' } });
    browser.signIn('alice');
    expect(await payment.send()).toMatchObject({ status: 'succeeded' });
    expect(stored).toEqual([undefined, 'alice']);
    expect(await client.payer()).toBe('alice');
  });

  it('reports not_sent while the session cannot be read', async () => {
    browser.failing = (method) => (method === 'GET' ? new TypeError('terminated') : undefined);
    const client = browser.client();
    const result = await client.payouts.credit(body).send();
    expect(result).toMatchObject({ status: 'not_sent', settled: true, error: { maySent: false } });
    expect(browser.paths).toEqual(Array(3).fill(`GET ${SESSION}`));
    await expect(client.session.read()).rejects.toThrow(NetworkError);
  });

  it('reports the lack of a signed-in person', async () => {
    browser.cookie = undefined;
    const client = browser.client();
    expect(await client.session.read()).toBeUndefined();
    await expect(client.limits()).rejects.toThrow(AuthenticationError);
    expect(browser.paths).toEqual(Array(2).fill(`GET ${SESSION}`));
  });

  it('returns the address of the sign-in', () => {
    const { session } = browser.client({ session: { client: 'my wallet' } });
    const query = 'return_to=https%3A%2F%2Fapp.example.com%2F%3Fa%3D1%26b';
    expect(session.signInUrl('https://app.example.com/?a=1&b')).toBe(
      `${baseUrl}/session/pages/my%20wallet/sign-in?${query}`,
    );
    expect(() => session.signInUrl('/wallet')).toThrow(TypeError);
  });

  it('ends the current session, and returns the address for the sign-out at the provider', async () => {
    const client = browser.client();
    await client.limits();
    browser.signIn('bob');
    expect(await client.session.signOut({ returnTo: 'https://app.example.com' })).toBe(
      'https://login.example.com/end',
    );
    expect(browser.paths.at(-1)).toBe(`DELETE ${SESSION}?return_to=https%3A%2F%2Fapp.example.com%2F`);
    expect(browser.cookie).toBeUndefined();
    expect(await client.session.signOut()).toBeNull();
  });

  it('stops waiting when its caller aborts', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const client = browser.client();
    await expect(client.limits({ signal })).rejects.toThrow('enough');
    await expect(client.session.read({ signal })).rejects.toThrow('enough');
  });
});

describe('the option "session"', () => {
  const session = { client: 'wallet' };

  it('requires cookies of the runtime, or another fetch', () => {
    expect(() => new PayoutProxy({ baseUrl, session })).toThrow('this runtime keeps none');
    expect(() => new PayoutProxy({ baseUrl, session, fetch })).not.toThrow();
  });

  it('excludes other credentials and refresh', () => {
    expect(() => new PayoutProxy({ baseUrl, session, apiKey: 'key', fetch })).toThrow('Pass exactly one of');
    expect(() => new PayoutProxy({ baseUrl, session, refresh: () => undefined, fetch })).toThrow('"refresh"');
  });

  it('is required by client.session', () => {
    expect(() => new PayoutProxy({ baseUrl, apiKey: 'key' }).session).toThrow('Pass "session"');
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ApiError,
  AuthenticationError,
  type PaymentResult,
  PayoutProxy,
} from '../../packages/sdk/src/index.ts';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { askSandbox } from '../support/sandbox/sandbox-answers';

const RETRIES = { most: 4, firstMs: 5, longestMs: 1_000 };
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };

type Fetch = typeof fetch;
/** Behavior of the network for one request. */
type NetworkBehavior = (send: () => Promise<Response>) => Promise<Response>;

const delivery: NetworkBehavior = (send) => send();
/** Breaks the connection before the proxy reads a byte. */
const lostRequest: NetworkBehavior = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } }));
const refusedConnection: NetworkBehavior = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
/** Breaks the connection after the answer of the proxy. */
const lostAnswer: NetworkBehavior = async (send) => {
  await (await send()).arrayBuffer();
  throw new TypeError('terminated');
};

/** Answers from a gateway between the app and the proxy. */
const answers =
  (status: number, text: string): NetworkBehavior =>
  () =>
    Promise.resolve(new Response(text, { status }));

/** Answers with an error of the proxy. */
const proxyError = (status: number, code: string, action: string, retryAfter?: string): NetworkBehavior => {
  const headers = { 'X-Call-Id': 'x', ...(retryAfter !== undefined && { 'Retry-After': retryAfter }) };
  const text = JSON.stringify({ status: 'error', error: `It said ${code}.`, code, action, call_id: 'x' });
  return () => Promise.resolve(new Response(text, { status, headers }));
};

describe('a payment without an answer', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let key: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({
      checkCoverage: false,
      resolverEverySeconds: 1,
      resolverRejectedQuietSeconds: 1,
    });
    await proxy.startWorker(); // verifies rejections
    key = (await proxy.client('app', 'pay')).key;
  });
  afterAll(() => proxy.close());

  /** Prepares a payment with these fates of its requests, in order. The last one applies to all others. */
  function payment(fates: NetworkBehavior[], idempotencyKey?: string) {
    const keys: (string | null)[] = [];
    const unreliable: Fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'POST') keys.push(request.headers.get('Idempotency-Key'));
      const fate = request.method === 'POST' ? (fates.length > 1 ? fates.shift() : fates[0]) : delivery;
      return (fate ?? delivery)(() => fetch(request));
    };
    const phoneNumber = `+2547${String(30_000_000 + (count += 1))}`;
    const client = new PayoutProxy({ baseUrl: proxy.url, apiKey: key, fetch: unreliable, retries: RETRIES });
    const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: '0.01' }] };
    const made = client.payouts.airtime(body, idempotencyKey === undefined ? {} : { idempotencyKey });
    const timesPaid = async () => {
      const { body: all } = await askSandbox(proxy.sandbox.url)
        .get('/_sandbox/requests')
        .set(CONTROL)
        .expect(200);
      return all.filter((one) => one.processed && JSON.stringify(one.body).includes(phoneNumber)).length;
    };
    return { made, keys, timesPaid };
  }

  const page = answers(502, '<html><h1>502 Bad Gateway</h1></html>');

  it.each<[string, NetworkBehavior[], number]>([
    ['the first request is lost', [lostRequest, delivery], 2],
    ['no connection is made at first', [refusedConnection, refusedConnection, delivery], 3],
    ['the first answer is lost', [lostAnswer, delivery], 2],
    ['all answers but the last are lost', [lostAnswer, lostAnswer, lostAnswer, lostAnswer, delivery], 5],
    ['a gateway answers with HTML', [page, delivery], 2],
    ['a gateway answers with JSON of its own', [answers(503, '{"status":503}'), delivery], 2],
    ['a gateway answers with a success', [answers(200, '{"status":"success"}'), delivery], 2],
    ['the proxy is overloaded', [proxyError(503, 'overloaded', 'retry_same_key', '0'), delivery], 2],
    ['an unknown error asks for a retry', [proxyError(400, 'brand_new', 'retry_same_key'), delivery], 2],
  ])('is sent again with the same key, and made once, if %s', async (_case, fates, attempts) => {
    const { made, keys, timesPaid } = payment(fates);
    expect(await made.settled()).toMatchObject({ status: 'succeeded', settled: true });
    expect(keys).toEqual(Array(attempts).fill(made.idempotencyKey));
    expect(await timesPaid()).toBe(1);
  });

  it('is not rejected while an unanswered attempt may have been carried out', async () => {
    const { made, timesPaid } = payment([lostAnswer, proxyError(403, 'scope_missing', 'ask')]);
    expect(await made.send()).toMatchObject({ status: 'succeeded' }); // its key is on record
    expect(await timesPaid()).toBe(1);
  });

  it('is unknown after a rejection that follows an open attempt', async () => {
    const { made, timesPaid } = payment([lostRequest, proxyError(403, 'cap_exceeded', 'ask')]);
    const result = await made.send();
    expect(result).toMatchObject({
      status: 'unknown',
      settled: false,
      callId: undefined,
      error: { code: 'cap_exceeded' },
    });
    await expect(made.settled()).rejects.toMatchObject({ code: 'cap_exceeded', action: 'ask' });
    expect(await timesPaid()).toBe(0);
  });

  it('is rejected at once after its only attempt is rejected', async () => {
    const { made, keys } = payment([proxyError(403, 'cap_exceeded', 'ask')]);
    expect(await made.send()).toMatchObject({
      status: 'rejected',
      settled: true,
      error: { code: 'cap_exceeded' },
    });
    expect(keys).toHaveLength(1);
  });

  it('is found by its key after another program has sent it', async () => {
    const first = payment([lostAnswer]);
    expect(await first.made.send()).toMatchObject({ status: 'unknown', callId: undefined });
    const second = payment([proxyError(403, 'scope_missing', 'ask')], first.made.idempotencyKey);
    expect(await second.made.settled()).toMatchObject({ status: 'succeeded', settled: true });
    expect([await first.timesPaid(), await second.timesPaid()]).toEqual([1, 0]);
    expect(await payment([proxyError(403, 'cap_exceeded', 'ask')], 'never-sent').made.send()).toMatchObject({
      status: 'rejected',
    });
  });

  it('is rejected with the current error after an earlier call has freed its key', async () => {
    const busy = { operation: 'POST /payouts/airtime', fault: 'tooManyRequests', retryAfter: 0, nth: 1 };
    await askSandbox(proxy.sandbox.url).post('/_sandbox/faults').set(CONTROL).send(busy).expect(201);
    const first = payment([delivery]);
    expect(await first.made.settled()).toMatchObject({ status: 'not_sent' });
    const second = payment([proxyError(403, 'cap_exceeded', 'ask')], first.made.idempotencyKey);
    expect(await second.made.send()).toMatchObject({ status: 'rejected', error: { code: 'cap_exceeded' } });
  });

  it('is not_sent without any connection', async () => {
    const { made, keys } = payment([refusedConnection]);
    expect(await made.send()).toMatchObject({ status: 'not_sent', settled: true, error: { maySent: false } });
    expect(keys).toHaveLength(5);
  });

  it('waits for Retry-After, and gives up after a long one', async () => {
    const { made, keys } = payment([proxyError(429, 'rate_limited', 'retry_same_key', '60')]);
    const error: unknown = expect.objectContaining({ code: 'rate_limited', retryAfterMs: 60_000 });
    expect(await made.send()).toMatchObject({ status: 'not_sent', error });
    expect(keys).toHaveLength(1);
  });

  it('continues after its caller aborts', async () => {
    const leaving = new AbortController();
    const { made, timesPaid } = payment([
      async (send) => {
        const response = await send();
        leaving.abort(new Error('the page was closed'));
        throw new Error(`aborted after ${response.status}`);
      },
      delivery,
    ]);
    await expect(made.send({ signal: leaving.signal })).rejects.toThrow('the page was closed');
    expect(await made.settled()).toMatchObject({ status: 'succeeded', settled: true });
    expect(await timesPaid()).toBe(1);
  });

  it('never follows a redirect', async () => {
    let redirected = 0;
    const server = createServer((_request, response) => {
      redirected += 1;
      response.writeHead(307, { location: `${proxy.url}/api/v0.1/payouts/airtime` }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new PayoutProxy({ baseUrl, apiKey: key, retries: { most: 0 } });
    const result = await client.payouts
      .credit({ credits: [{ email: 'ada@example.com', valueInUSD: '1' }] })
      .send();
    server.close();
    expect([result.status, redirected]).toEqual(['unknown', 1]);
  });

  it('renews an expired credential once, for all waiting requests', async () => {
    let present = 'expired';
    let renewals = 0;
    const expired = proxyError(401, 'token_expired', 'fix_request');
    const client = new PayoutProxy({
      baseUrl: proxy.url,
      apiKey: () => present,
      refresh: async () => {
        renewals += 1;
        await new Promise((done) => setTimeout(done, 20));
        present = key;
      },
      fetch: (input, init) => {
        const isExpired = new Request(input, init).headers.get('X-API-Key') === 'expired';
        return isExpired ? expired(delivery as never) : fetch(input, init);
      },
    });
    const limits = await Promise.all(Array.from({ length: 10 }, () => client.limits()));
    expect([limits.length, renewals]).toEqual([10, 1]);
  });

  it('requests no new credential for an unknown one or one without permission', async () => {
    const refresh = () => Promise.reject(new Error('must not be asked'));
    const client = new PayoutProxy({
      baseUrl: proxy.url,
      apiKey: 'pp_app_unknown',
      refresh,
      retries: RETRIES,
    });
    const error = await client.limits().catch((failure: unknown) => failure as ApiError);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_key', action: 'ask' });
    const result: PaymentResult = await client.payouts
      .credit({ credits: [{ email: 'ada@example.com', valueInUSD: '1' }] })
      .send();
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'invalid_key' } });
  });
});

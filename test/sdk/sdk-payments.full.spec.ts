import {
  DecisionNeededError,
  InvalidRequestError,
  type PaymentResult,
  PayoutProxy,
  ProviderError,
  type StoredPayment,
} from '../../packages/sdk/src/index.ts';
import { first } from '../support/examples/first';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { askSandbox } from '../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const AIRTIME = 'POST /payouts/airtime';
const RETRIES = { most: 4, firstMs: 5, longestMs: 3_000 };

describe('a payment by the SDK', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let key: string;
  let approver: string;
  let client: PayoutProxy;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({
      upstreamTimeoutMs: 5_000,
      dualControl: false,
      duplicateGuard: true,
    });
    key = (await proxy.client('app', 'pay', 'write', 'read')).key;
    approver = (await proxy.client('approver', 'approve')).key;
    client = clientWith();
    await airtime().settled(); // caches the list of countries
  });
  afterAll(() => proxy.close());

  const clientWith = (more: Partial<ConstructorParameters<typeof PayoutProxy>[0]> = {}) =>
    new PayoutProxy({ baseUrl: proxy.url, apiKey: key, retries: RETRIES, ...more });
  const body = (phoneNumber = `+2547${String(20_000_000 + (count += 1))}`, valueInUSD = '0.01') => ({
    airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }],
  });
  const airtime = (given = body(), by = client) => by.payouts.airtime(given);
  const fault = (asked: object) =>
    askSandbox(proxy.sandbox.url)
      .post('/_sandbox/faults')
      .set(CONTROL)
      .send({ operation: AIRTIME, nth: 1, ...asked });
  const arrivals = async (phoneNumber: string) => {
    const { body: all } = await askSandbox(proxy.sandbox.url)
      .get('/_sandbox/requests')
      .set(CONTROL)
      .expect(200);
    return all.filter((one) => JSON.stringify(one.body).includes(phoneNumber));
  };
  const phoneOf = (given: ReturnType<typeof body>) => first(given.airtimes).phoneNumber;

  it('has its key at once, and is stored before it is sent', async () => {
    const given = body();
    const stored: [StoredPayment, number][] = [];
    const store = async (one: StoredPayment) => {
      stored.push([one, (await arrivals(phoneOf(given))).length]);
    };
    const payment = airtime(given, clientWith({ store }));
    const { idempotencyKey } = payment;
    expect(idempotencyKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect((await arrivals(phoneOf(given))).length).toBe(0);
    expect(await payment.settled()).toMatchObject({ status: 'succeeded', settled: true, idempotencyKey });
    const [[one, before] = []] = stored;
    expect([stored.length, before, one?.operation, one?.idempotencyKey]).toEqual([
      1,
      0,
      AIRTIME,
      idempotencyKey,
    ]);
    expect(JSON.parse(one?.body ?? '')).toEqual({ airtimes: [{ ...given.airtimes[0], valueInUSD: 0.01 }] });
  });

  it('is not sent if it cannot be stored', async () => {
    const given = body();
    const store = () => Promise.reject(new Error('disk full'));
    await expect(airtime(given, clientWith({ store })).send()).rejects.toThrow('disk full');
    expect(await arrivals(phoneOf(given))).toEqual([]);
  });

  it('is made once by concurrent requests, and by another program with its key', async () => {
    const given = body();
    const payment = airtime(given);
    const results = await Promise.all([payment.send(), payment.send(), payment.settled()]);
    const { idempotencyKey } = payment;
    const continued = await clientWith().payouts.airtime(given, { idempotencyKey }).settled();
    expect([...results, continued].map(({ status }) => status)).toEqual(Array(4).fill('succeeded'));
    expect(new Set([...results, continued].map(({ callId }) => callId)).size).toBe(1);
    expect(await arrivals(phoneOf(given))).toHaveLength(1);
  });

  it('continues for one caller after another one aborts', async () => {
    const given = body();
    let requests = 0;
    let isSent: () => void = () => undefined;
    const sending = new Promise<void>((done) => (isSent = done));
    const hangsFirst: typeof fetch = (input, init) => {
      requests += 1;
      if (requests > 1) return fetch(input, init);
      isSent();
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    };
    const [leaving, joining] = [new AbortController(), new AbortController()];
    const payment = airtime(given, clientWith({ fetch: hangsFirst }));
    const first = payment.send({ signal: leaving.signal });
    const [patient, impatient] = [payment.send(), payment.send({ signal: joining.signal })];
    joining.abort(new Error('the second one left'));
    await expect(impatient).rejects.toThrow('the second one left');
    await sending;
    leaving.abort(new Error('the first one left'));
    await expect(first).rejects.toThrow('the first one left');
    expect(await patient).toMatchObject({ status: 'succeeded' });
    expect(await arrivals(phoneOf(given))).toHaveLength(1);
  });

  it.each([
    ['noResponse', 'unknown'],
    ['resetBeforeProcessing', 'unknown'],
    ['resetAfterProcessing', 'unknown'],
    ['error500', 'unknown'],
    ['error500AfterProcessing', 'unknown'],
    ['errorNamingTransactions', 'unknown'],
    ['error502Html', 'unknown'],
    ['malformedJson', 'unknown'],
  ] as const)('is unknown after %s, and never sent again', async (name, status) => {
    const given = body();
    await fault({ fault: name }).expect(201);
    const payment = airtime(given);
    const results = [await payment.send(), await payment.send()];
    expect(results).toEqual(Array(2).fill(expect.objectContaining({ status, settled: false })));
    const patience = AbortSignal.timeout(200);
    await expect(payment.settled({ signal: patience })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await arrivals(phoneOf(given))).toHaveLength(1);
  });

  it('is sent again with its key while the provider is busy', async () => {
    const given = body();
    await fault({ fault: 'tooManyRequests', retryAfter: 0 }).expect(201);
    expect(await airtime(given).settled()).toMatchObject({ status: 'succeeded' });
    expect((await arrivals(phoneOf(given))).map(({ processed }) => processed)).toEqual([false, true]);
  });

  it('is not sent while the provider stays busy, and can be sent later', async () => {
    const given = body();
    const asked = await fault({ fault: 'tooManyRequests', retryAfter: 0, nth: undefined }).expect(201);
    const payment = airtime(given);
    const result = await payment.send();
    expect(result).toMatchObject({ status: 'not_sent', settled: true, error: { code: 'upstream_busy' } });
    expect(await arrivals(phoneOf(given))).toHaveLength(5);
    await askSandbox(proxy.sandbox.url).delete(`/_sandbox/faults/${asked.body.id}`).set(CONTROL).expect(204);
    expect(await payment.send()).toMatchObject({
      status: 'succeeded',
      idempotencyKey: payment.idempotencyKey,
    });
  });

  it('is rejected with every fault of an invalid body', async () => {
    const result = await airtime({
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: '1', valueInUSD: '0' }],
    }).send();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect([result.status, result.settled]).toEqual(['rejected', true]);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', action: 'fix_request', errorsTotal: 2 });
    const { errors } = error as InvalidRequestError;
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      '/airtimes/0/phoneNumber',
      '/airtimes/0/valueInUSD',
    ]);
  });

  it('is rejected above a cap', async () => {
    const { key: poor, name } = await proxy.client('poor', 'pay');
    await proxy.database.query('UPDATE client SET daily_cap_usd = 1 WHERE name = $1', [name]);
    const result = await airtime(body(undefined, '1.000001'), clientWith({ apiKey: poor })).settled();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect(error).toBeInstanceOf(DecisionNeededError);
    expect(result).toMatchObject({ status: 'rejected', error: { code: 'cap_exceeded', action: 'ask' } });
  });

  it('is rejected in the words of the provider', async () => {
    const result = await airtime(body('+254799990108')).settled();
    const { error } = result as Extract<PaymentResult, { status: 'rejected' }>;
    expect([result.status, result.settled]).toEqual(['rejected', true]);
    expect(error).toBeInstanceOf(ProviderError);
  });

  it('is partial if the provider does not pay an item', async () => {
    const items = [first(body().airtimes), first(body('+254799990104').airtimes)];
    const result = await airtime({ airtimes: items }).settled();
    expect(result).toMatchObject({ status: 'partially', settled: true });
    const { items: payouts } = result as Extract<PaymentResult, { status: 'partially' }>;
    expect(payouts.map(({ state, next }) => [state, next])).toEqual([
      ['paid', 'none'],
      ['failed', 'send_again'],
    ]);
    expect(await airtime(body('+254799990104')).settled()).toMatchObject({
      status: 'rejected',
      settled: true,
    });
  });

  it('waits for an unpaid link, unless its signal aborts', async () => {
    const payment = client.payouts.initiateCredit({
      credits: [{ email: 'ada@example.com', valueInUSD: '1' }],
    });
    expect(await payment.send()).toMatchObject({ status: 'succeeded', settled: false });
    const signal = AbortSignal.timeout(300);
    await expect(payment.settled({ signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    const looked = await payment.send();
    expect(looked).toMatchObject({
      status: 'succeeded',
      settled: false,
      items: [{ state: 'pending', next: 'wait' }],
    });
  });

  it('is rejected if another payment has its key, which leaves its own outcome open', async () => {
    const { idempotencyKey } = await airtime().settled();
    const result = await client.payouts.airtime(body(), { idempotencyKey }).settled();
    const error: unknown = expect.objectContaining({ code: 'idempotency_key_reused', action: 'new_key' });
    expect(result).toMatchObject({ status: 'rejected', settled: true, callId: undefined, error });
  });

  it("is rejected while an equal payment is open, and never adopts that one's outcome", async () => {
    const given = body();
    await fault({ fault: 'noResponse' }).expect(201);
    const { callId } = await airtime(given).send();
    const second = airtime(given);
    const error: unknown = expect.objectContaining({
      code: 'suspected_duplicate',
      action: 'wait',
      firstCallId: callId,
    });
    expect(await second.settled()).toMatchObject({
      status: 'rejected',
      settled: true,
      callId: undefined,
      error,
    });
    const meant = client.payouts.airtime(given, { allowDuplicateOf: callId ?? '' });
    expect(await meant.settled()).toMatchObject({ status: 'succeeded' });
    expect(await arrivals(phoneOf(given))).toHaveLength(2);
  });

  it('recognizes the ephemeral keys minted by its server', async () => {
    const asked = {
      operations: [AIRTIME as 'POST /payouts/airtime'],
      max_item: '1',
      max_total: '1',
      expires_in: 60,
    };
    for (const actor of ['ada', 'grace', 'ada']) await client.ephemeralKeys.create({ actor, ...asked });
    const found: unknown[] = [];
    for await (const { actor, state } of client.ephemeralKeys.list({ actor: 'ada', pageSize: 1 })) {
      found.push([actor, state]);
    }
    expect(found).toEqual(Array(2).fill(['ada', 'active']));
  });

  it.each([
    ['approve', { status: 'succeeded' }],
    ['reject', { status: 'rejected', error: { code: 'approval_rejected', action: 'ask' } }],
  ])('is held until an approver decides to %s it', async (decision, expected) => {
    const { key: careful, name } = await proxy.client(`careful-${decision}`, 'pay');
    await proxy.database.query('UPDATE client SET approval_over_usd = 0 WHERE name = $1', [name]);
    const payment = airtime(undefined, clientWith({ apiKey: careful }));
    const held = await payment.send();
    expect(held).toMatchObject({ status: 'held', settled: false });
    const settled = payment.settled();
    const response = await fetch(`${proxy.url}/v1/approvals/${held.callId}/${decision}`, {
      method: 'POST',
      headers: { 'X-API-Key': approver, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'checked' }),
    });
    expect(response.status).toBe(200);
    expect(await settled).toMatchObject({ ...expected, settled: true, callId: held.callId });
  });
});

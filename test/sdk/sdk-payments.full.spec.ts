import type { StoredPayment } from '../../packages/sdk/src/index.ts';
import { SdkApp, startSdkApp } from '../support/sandbox/sdk-app';

const AIRTIME = 'POST /payouts/airtime';

describe('a payment by the SDK', () => {
  let app: SdkApp;

  beforeAll(async () => void (app = await startSdkApp()));
  afterAll(() => app.proxy.close());

  it('has its key at once, and is stored first', async () => {
    const body = app.bodyOf();
    const stored: [StoredPayment, number][] = [];
    const store = async (payment: StoredPayment) => {
      stored.push([payment, (await app.arrivals(body)).length]);
    };
    const payment = app.airtime(body, app.clientWith({ store }));
    const { idempotencyKey } = payment;
    expect(idempotencyKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect((await app.arrivals(body)).length).toBe(0);
    expect(await payment.settled()).toMatchObject({ status: 'succeeded', settled: true, idempotencyKey });
    const [[first, before] = []] = stored;
    expect([stored.length, before, first?.operation, first?.idempotencyKey]).toEqual([
      1,
      0,
      AIRTIME,
      idempotencyKey,
    ]);
    expect(JSON.parse(first?.body ?? '')).toEqual({ airtimes: [{ ...body.airtimes[0], valueInUSD: 0.01 }] });
  });

  it('is not sent after a failed store', async () => {
    const body = app.bodyOf();
    const store = () => Promise.reject(new Error('disk full'));
    await expect(app.airtime(body, app.clientWith({ store })).send()).rejects.toThrow('disk full');
    expect(await app.arrivals(body)).toEqual([]);
  });

  it('is made once by concurrent requests, and by another program with its key', async () => {
    const body = app.bodyOf();
    const payment = app.airtime(body);
    const results = await Promise.all([payment.send(), payment.send(), payment.settled()]);
    const { idempotencyKey } = payment;
    const continued = await app.clientWith().payouts.airtime(body, { idempotencyKey }).settled();
    expect([...results, continued].map(({ status }) => status)).toEqual(Array(4).fill('succeeded'));
    expect(new Set([...results, continued].map(({ callId }) => callId)).size).toBe(1);
    expect(await app.arrivals(body)).toHaveLength(1);
  });

  it('continues for one caller after another one aborts', async () => {
    const body = app.bodyOf();
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
    const payment = app.airtime(body, app.clientWith({ fetch: hangsFirst }));
    const first = payment.send({ signal: leaving.signal });
    const [patient, impatient] = [payment.send(), payment.send({ signal: joining.signal })];
    joining.abort(new Error('the second one left'));
    await expect(impatient).rejects.toThrow('the second one left');
    await sending;
    leaving.abort(new Error('the first one left'));
    await expect(first).rejects.toThrow('the first one left');
    expect(await patient).toMatchObject({ status: 'succeeded' });
    expect(await app.arrivals(body)).toHaveLength(1);
  });

  it('is unknown while the provider is busy, then not_sent, and can be sent with its key', async () => {
    const body = app.bodyOf();
    await app.fault({ fault: 'tooManyRequests', retryAfter: 0 }).expect(201);
    const payment = app.airtime(body);
    const result = await payment.send();
    expect(result).toMatchObject({ status: 'unknown', settled: false, error: { code: 'upstream_busy' } });
    expect(await payment.settled()).toMatchObject({ status: 'not_sent', settled: true });
    expect(await app.arrivals(body)).toHaveLength(1);
    expect(await payment.send()).toMatchObject({
      status: 'succeeded',
      idempotencyKey: payment.idempotencyKey,
    });
  });

  it('waits for an unpaid link, unless its signal aborts', async () => {
    const payment = app.client.payouts.initiateCredit({
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

  it('lists the ephemeral keys of a person', async () => {
    const rights = {
      operations: [AIRTIME as 'POST /payouts/airtime'],
      max_item: '1',
      max_total: '1',
      expires_in: 60,
    };
    for (const actor of ['ada', 'grace', 'ada']) await app.client.ephemeralKeys.create({ actor, ...rights });
    const found: unknown[] = [];
    for await (const { actor, state } of app.client.ephemeralKeys.list({ actor: 'ada', pageSize: 1 })) {
      found.push([actor, state]);
    }
    expect(found).toEqual(Array(2).fill(['ada', 'active']));
  });
});

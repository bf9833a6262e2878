import { UpstreamService } from '../../src/gateway/upstream/upstream.service';
import { OperationName } from '../../src/operations/catalogue/catalogue';
import supertest from '../support/http/supertest';
import { answer, succeed } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { airtime, eventually, PaymentScene, PHONE, phones, startPaying } from '../support/payments/paying';

/** Failures that open the circuit of an operation. */
const ENOUGH = 50;

const PAY = 'POST /payouts/airtime';
const READ = 'GET /wallets/list';
const LIST = 'GET /info/airtime-countries';

const dailyThreshold = (usd: number | null) =>
  `UPDATE client SET approval_over_usd = ${usd === null ? 'NULL' : usd} WHERE name = 'app'`;

/** Fails an operation until its circuit opens. Then the upstream answers again. */
async function openCircuit({ proxy, upstream }: PaymentScene, operation: OperationName): Promise<void> {
  upstream.behaviour = answer(503, 'busy');
  const service = proxy.app.get(UpstreamService, { strict: false }).of('main');
  const outgoing = {
    account: 'main',
    operation,
    effect: 'pay',
    method: 'POST',
    path: '/x',
    body: null,
  } as const; // only reads are retried
  for (let times = 0; times < ENOUGH; times += 1) await service.send(outgoing, undefined);
  expect((await service.send(outgoing, undefined)).answer.failure).toBe('circuit_open');
  upstream.received.length = 0;
  upstream.behaviour = succeed;
}

/** The upstream fails most requests of an operation. New ones are refused before their intent is recorded. */
describe('an open circuit', () => {
  let approving: ApprovalScene;
  let now: number;
  let clock: jest.SpyInstance;

  beforeAll(async () => {
    const maxClockSkewMs = Infinity; // the circuit uses the wall clock, which these tests stop
    approving = await startApproving({ maxClockSkewMs });
  });
  afterAll(() => approving.close());
  beforeEach(async () => {
    await approving.reset();
    now = Date.now();
    clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(async () => {
    pass();
    approving.upstream.behaviour = succeed;
    await approving.pay('+254700099999');
    clock.mockRestore();
  });

  /** Passes the delay after which one request is sent as a probe. */
  const pass = () => (now += 5_000);

  const intentsOf = (ids: (string | undefined)[]) =>
    approving.query('SELECT id FROM intent WHERE id = ANY ($1)', [ids]);
  const keyed = (key: string, phone = PHONE) => approving.pay(phone).set('Idempotency-Key', key);
  const metric = async () => (await supertest(approving.proxy.url).get('/metrics').expect(200)).text;

  it('refuses a payment before recording its intent, with Retry-After, and records the refusal', async () => {
    await openCircuit(approving, PAY);
    for (const key of [undefined, 'new-key']) {
      const got = await (key === undefined ? approving.pay() : keyed(key))
        .expect(503)
        .expect('Retry-After', '5');
      expect(got.body).toMatchObject({ code: 'upstream_unreachable', action: 'retry_same_key' });
      expect(await intentsOf([got.headers['x-call-id']])).toEqual([]);
      expect(await approving.record(got)).toMatchObject({
        outcome: 'refused',
        refusal: { code: 'upstream_unreachable' },
      });
    }
    expect(await approving.spent()).toBeUndefined();
    expect(approving.upstream.received).toEqual([]);
    expect(await metric()).toContain(
      `payout_proxy_upstream_circuit_open{account="main",operation="${PAY}"} 1`,
    );
    // other operations continue
    await approving.proxy.get(approving.app, '/api/v0.1/wallets/list').expect(200);
    pass();
    await keyed('new-key').expect(200);
    expect(await metric()).toContain(
      `payout_proxy_upstream_circuit_open{account="main",operation="${PAY}"} 0`,
    );
  });

  it('replays a known key, and refuses another body with it', async () => {
    const first = await keyed('known', '+254700000001').expect(200);
    await openCircuit(approving, PAY);
    const again = await keyed('known', '+254700000001').expect(200).expect('Idempotent-Replayed', 'true');
    expect(again.text).toBe(first.text);
    await keyed('known', '+254700000002').expect(422, /idempotency_key_reused/);
    expect(approving.upstream.received).toEqual([]);
  });

  it('sends one request as its probe, and refuses the others before their intents', async () => {
    await openCircuit(approving, PAY);
    pass();
    const held: (() => unknown)[] = [];
    approving.upstream.behaviour = (...args) => held.push(() => answer(503, 'busy')(...args));
    const answers: { status: number; id: string | undefined; retryAfter: string | undefined }[] = [];
    const asked = phones(12).map(async (phone) => {
      const { status, headers } = await approving.pay(phone);
      answers.push({ status, id: headers['x-call-id'], retryAfter: headers['retry-after'] });
    });
    await eventually(() => answers.length === 11 && held.length === 1);
    expect(answers.map(({ status, retryAfter }) => `${status} ${retryAfter}`)).toEqual(
      Array(11).fill('503 1'),
    );
    expect(await intentsOf(answers.map(({ id }) => id))).toEqual([]);
    held[0]?.();
    await Promise.all(asked);
    expect(approving.upstream.received).toHaveLength(1);
    await approving.pay().expect(503).expect('Retry-After', '5'); // the probe failed
  });

  it('passes the probe on when its request is refused, held or replayed', async () => {
    await keyed('paid', '+254700000003').expect(200);
    await openCircuit(approving, PAY);
    pass();
    await approving.query(`UPDATE client SET daily_cap_usd = 0 WHERE name = 'app'`);
    await approving.pay().expect(403, /cap_exceeded/);
    await approving.query(`UPDATE client SET daily_cap_usd = NULL WHERE name = 'app'`);
    await approving.query(dailyThreshold(1));
    await approving.pay('+254700000004').expect(202);
    await approving.query(dailyThreshold(null));
    await keyed('paid', '+254700000003').expect(200).expect('Idempotent-Replayed', 'true');
    expect(approving.upstream.received).toEqual([]);
    await approving.pay('+254700000005').expect(200);
  });

  it('holds payments for approval, and keeps them pending until the upstream is tried again', async () => {
    await openCircuit(approving, PAY);
    await approving.query(dailyThreshold(1));
    const asked = await approving.pay('+254700000006').expect(202);
    await approving.query(dailyThreshold(null));
    const id = asked.headers['x-call-id'] ?? '';
    const refused = await approving.decide('approve', id).expect(503).expect('Retry-After', '5');
    expect(refused.body).toMatchObject({
      code: 'upstream_unreachable',
      detail: expect.stringContaining('still pending'),
    });
    expect(await approving.read(id)).toMatchObject({ outcome: 'pending_approval' });
    pass();
    const { body } = await approving.decide('approve', id).expect(200);
    expect(body).toMatchObject({ outcome: 'succeeded', approval: { status: 'approved' } });
  });

  it('appears in a preview, which never becomes the probe', async () => {
    const preview = async () => {
      const asked = supertest(approving.proxy.url)
        .post('/v1/preview/payouts/airtime')
        .set('X-API-Key', approving.app);
      return (await asked.send(airtime('+254700000007')).expect(200)).body;
    };
    await openCircuit(approving, PAY);
    expect(await preview()).toMatchObject({ would: 'be_refused', refusal: { code: 'upstream_unreachable' } });
    pass();
    expect(await preview()).toMatchObject({ would: 'be_sent', refusal: null });
    await approving.pay('+254700000007').expect(200);
  });

  it('refuses a read before recording its intent, unless its answer is cached', async () => {
    const read = (path: string) => approving.proxy.get(approving.app, path as '/api/v0.1/wallets/list');
    await read('/api/v0.1/info/airtime-countries').expect(200);
    await openCircuit(approving, READ);
    await openCircuit(approving, LIST);
    const got = await read('/api/v0.1/wallets/list').expect(503).expect('Retry-After', '5');
    expect(got.body).toMatchObject({
      code: 'upstream_unreachable',
      error: expect.not.stringContaining('send'),
    });
    expect(await intentsOf([got.headers['x-call-id']])).toEqual([]);
    await read('/api/v0.1/info/airtime-countries').expect(200).expect('Age', '0');
    expect(approving.upstream.received).toEqual([]);
    pass();
    await read('/api/v0.1/wallets/list').expect(200);
  });
});

it('pays unchecked and records no list call while the circuit of the country list is open', async () => {
  const paying = await startPaying({ checkCoverage: true, maxClockSkewMs: Infinity });
  const stopped = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => stopped);
  await openCircuit(paying, LIST);
  await paying.pay().expect(200);
  expect(paying.upstream.received.map(({ url }) => url)).toEqual(['/api/v0.1/payouts/airtime']);
  expect(await paying.proxy.database.query('SELECT operation FROM intent')).toEqual([{ operation: PAY }]);
  clock.mockRestore();
  await paying.close();
});

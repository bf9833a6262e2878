import { randomUUID } from 'node:crypto';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { Behaviour, FakeUpstream, hang, succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, phoneOf, phones } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const OPERATION = 'POST /payouts/airtime';
const PATH = '/payouts/airtime';

/** Pays with a fee per payout. Without a fee, the answer omits it. */
const paysFor = (fee?: number): Behaviour => {
  return (request, response, socket) => {
    // a preview asks for rates
    if (request.body === '') return succeed(request, response, socket);
    const phoneNumber = phoneOf(request);
    const [{ valueInUSD }] = (JSON.parse(request.body) as { airtimes: [{ valueInUSD: number }] }).airtimes;
    const named = { id: randomUUID(), chiRef: randomUUID(), phoneNumber, valueInUSD, status: 'paid' };
    const data = { error: 'None', data: [{ ...named, ...(fee !== undefined && { fee }) }], payouts: [] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', data }));
  };
};

/** Promise 3: fees of the upstream exceed no cap. */
describe('a fee of the upstream', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxies: TestProxy[];
  let clients = 0;
  const numbers = phones(1_000).values();

  const start = (fees: string[] = []) =>
    startProxy(
      {
        upstreamBaseUrl: upstream.url,
        upstreamTimeoutMs: 400,
        checkCoverage: false,
        upstreamFees: new Map(fees.map((fee) => [OPERATION, fee])),
      },
      database,
    );

  beforeAll(async () => void (upstream = await FakeUpstream.start()));
  afterAll(() => upstream.stop());
  beforeEach(async () => {
    database = await createTestDatabase();
    proxies = [];
    upstream.received.length = 0;
    upstream.behaviour = paysFor();
  });
  afterEach(async () => {
    for (const proxy of proxies) await proxy.close();
    await database.close();
  });

  const running = async (...fees: string[]) => {
    const proxy = await start(fees);
    proxies.push(proxy);
    return proxy;
  };
  const client = async (proxy: TestProxy, capUsd: number, approvalOverUsd: number | null = null) => {
    const { id, key } = await proxy.client(`app-${(clients += 1)}`, 'pay', 'read');
    await database.query('UPDATE client SET daily_cap_usd = $2, approval_over_usd = $3 WHERE id = $1', [
      id,
      capUsd,
      approvalOverUsd,
    ]);
    return { id, key };
  };
  const bodyOf = (usd: number) => {
    const { airtimes } = airtime(numbers.next().value ?? '');
    return { airtimes: airtimes.map((item) => ({ ...item, valueInUSD: usd })) };
  };
  const pay = (proxy: TestProxy, key: string, usd: number) => proxy.post(key, PATH, bodyOf(usd));
  const own = (proxy: TestProxy, key: string, path: string, body: object) =>
    supertest(proxy.url).post(path).set('X-API-Key', key).send(body);
  const spent = async (id: string) =>
    (
      await database.query<{ usd: string }>(
        'SELECT usd::float8::text AS usd FROM spending WHERE client_id = $1',
        [id],
      )
    )[0]?.usd;

  it('is reserved with the payout, and appears in a preview, the limits and the record', async () => {
    const proxy = await running('1.5%+0.05');
    upstream.behaviour = paysFor(0.08);
    const { id, key } = await client(proxy, 3);
    const refused = await pay(proxy, key, 3).expect(403);
    expect(refused.body.error).toContain(
      "cap is 3 US dollars, with 3 US dollars left. The upstream's expected fees of 0.095",
    );
    const { body: preview } = await supertest(proxy.url)
      .post(`/v1/preview${PATH}`)
      .set('X-API-Key', key)
      .send(bodyOf(2))
      .expect(200);
    expect(preview).toMatchObject({ would: 'be_sent', total_usd: '2', fee_usd: '0.08' });
    expect(preview.caps.daily).toMatchObject({ spent_usd: '0', left_after_usd: '0.92' });
    const { headers } = await pay(proxy, key, 2).expect(200);
    const { body } = await proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body).toMatchObject({ total_usd: '2', expected_fee_usd: '0.08' });
    expect(body.items).toMatchObject([{ fee_usd: '0.08', expected_fee_usd: null }]);
    expect(await spent(id)).toBe('2.08');
    const limits = (await proxy.get(key, '/v1/limits').expect(200)).body;
    expect(JSON.stringify(limits)).toContain('"spent_usd":"2.08"');
  });

  it('never exceeds a cap, however many requests arrive at once on several instances', async () => {
    const [one, other] = [await running('1.5%'), await running('1.5%')];
    upstream.behaviour = paysFor(0.0075);
    const { id, key } = await client(one, 3);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, nth) => pay(nth % 2 === 0 ? one : other, key, 0.5)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5); // six cost 3.045
    // A busy machine refuses some, or does not wait for the upstream. Send until the cap is reached.
    await eventually(async () => (await pay(one, key, 0.5)).status === 403);
    expect(await spent(id)).toBe('2.5375');
  });

  it('counts as the answer states, and as zero if its transaction states none', async () => {
    const proxy = await running('10%');
    const { id, key } = await client(proxy, 3);
    upstream.behaviour = paysFor(0.01);
    await pay(proxy, key, 1).expect(200);
    expect(await spent(id)).toBe('1.01');
    upstream.behaviour = paysFor();
    await pay(proxy, key, 1).expect(200);
    expect(await spent(id)).toBe('2.01');
  });

  it('stays reserved while its payout is in doubt, and is released with it', async () => {
    const proxy = await running('10%');
    const { id, key } = await client(proxy, 3);
    upstream.behaviour = hang;
    const { headers } = await pay(proxy, key, 1).expect(504);
    expect(await spent(id)).toBe('1.1');
    const callId = headers['x-call-id'] ?? '';
    const { body } = await proxy.get(key, `/v1/calls/${callId}`).expect(200);
    expect(body.items).toMatchObject([{ state: 'in_doubt', fee_usd: null, expected_fee_usd: '0.1' }]);
    const operator = (await proxy.client('operator', 'approve')).key;
    const resolution = { outcome: 'not_executed', reason: 'The provider confirmed that it did nothing.' };
    await own(proxy, operator, `/v1/calls/${callId}/resolution`, resolution).expect(200);
    expect(await spent(id)).toBe('0');
  });

  it('is reserved when a held call is approved', async () => {
    const proxy = await running('10%');
    const { id, key } = await client(proxy, 5, 2);
    const held = (await pay(proxy, key, 4).expect(202)).body.call_id;
    expect(await spent(id)).toBeUndefined();
    const approver = (await proxy.client('approver', 'approve')).key;
    const { body } = await proxy.get(approver, `/v1/approvals/${held}`).expect(200);
    expect(body.caps?.daily).toMatchObject({ after_usd: '4.4', left_after_usd: '0.6' });
    upstream.behaviour = hang;
    await own(proxy, approver, `/v1/approvals/${held}/approve`, { reason: 'Agreed.' }).expect(200);
    expect(await spent(id)).toBe('4.4');
    const cap = (usd: number) =>
      database.query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [id, usd]);
    await cap(9);
    const second = (await pay(proxy, key, 3.5).expect(202)).body.call_id;
    await cap(8);
    await own(proxy, approver, `/v1/approvals/${second}/approve`, { reason: 'Agreed.' }).expect(403);
  });

  it('is expected after the first answer that states it, on every instance and after a restart', async () => {
    const [one, other] = [await running(), await running()];
    await one.startWorker();
    const { id, key } = await client(one, 3);
    await pay(other, key, 0.5).expect(200); // both learn that no fee is charged yet
    upstream.behaviour = paysFor(0.05);
    await pay(one, key, 0.5).expect(200);
    expect(await spent(id)).toBe('1.05');
    upstream.behaviour = hang;
    await pay(other, key, 1).expect(504);
    expect(await spent(id)).toBe('2.15');
    const restarted = await running();
    await pay(restarted, key, 0.8).expect(403);
    await pay(restarted, key, 0.75).expect(504);
    expect(await spent(id)).toBe('2.975');
    const { text } = await one.get(key, '/metrics');
    expect(text).toContain(`payout_proxy_unexpected_fees_total{operation="${OPERATION}"} 1`);
  });

  it('is expected by an instance that knew more fees than a restored database', async () => {
    const [one, other] = [await running(), await running()];
    const { id, key } = await client(one, 100);
    for (const fee of [0.02, 0.03]) {
      upstream.behaviour = paysFor(fee);
      await pay(one, key, 1).expect(200);
    }
    await database.query('DELETE FROM fee_share');
    await database.query('ALTER TABLE fee_share ALTER number RESTART');
    await database.query(`INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`);
    const epochs = new Map<TestProxy, number>();
    for (const proxy of proxies)
      proxy.app.get(HeartbeatService).observe(({ epoch }) => epochs.set(proxy, epoch));
    await eventually(() => proxies.every((proxy) => epochs.get(proxy) === 2));
    upstream.behaviour = paysFor(0.1);
    await pay(other, key, 1).expect(200);
    upstream.behaviour = hang;
    await pay(one, key, 1).expect(504);
    expect(await spent(id)).toBe('4.25');
  });

  it('is expected to be at most its payout, because more is an upstream error', async () => {
    const proxy = await running();
    const { id, key } = await client(proxy, 1_000);
    upstream.behaviour = paysFor(500);
    await pay(proxy, key, 1).expect(200);
    expect(await spent(id)).toBe('501');
    upstream.behaviour = hang;
    await pay(proxy, key, 10).expect(504);
    expect(await spent(id)).toBe('521');
  });

  it('leaves the whole cap to payouts if none is expected', async () => {
    const proxy = await running();
    const { id, key } = await client(proxy, 3);
    await pay(proxy, key, 3).expect(200);
    expect(await spent(id)).toBe('3');
  });
});

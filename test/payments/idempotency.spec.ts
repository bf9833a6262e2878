import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { answer, FakeUpstream, hang, reset, succeed } from '../support/network/fake-upstream';
import { AIRTIME } from '../support/payments/paying';
import { settleByHand } from '../support/payments/settling';
import { startProxy, TestProxy } from '../support/processes/proxy';

const PATH = '/payouts/airtime';

describe('an idempotency key', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, upstreamTimeoutMs: 300 }, database);
    key = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
  });
  afterAll(async () => {
    await upstream.stop();
    await proxy.close();
    await database.close();
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = succeed;
  });

  const newKey = () => `key-${(keys += 1)}`;
  const pay = (idempotencyKey: string, body: object = AIRTIME, path = PATH) =>
    proxy.post(key, path, body).set('Idempotency-Key', idempotencyKey);
  /** Sends a request whose effect no list shows. Its rejection is believed. */
  const create = (idempotencyKey: string) =>
    pay(idempotencyKey, { name: 'Shop', email: 'shop@example.com' }, '/sub-account/create');
  const record = async (id: string | undefined) => (await proxy.get(key, `/v1/calls/${id}`).expect(200)).body;

  it('replays the status and bytes of the first answer, and marks the response as a replay', async () => {
    const k = newKey();
    const first = await pay(k).expect(200);
    const again = await pay(k).expect(200);
    expect(again.text).toBe(first.text);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.headers['x-call-id']).toBe(first.headers['x-call-id']);
    expect(upstream.received).toHaveLength(1);
  });

  it('records a replay as a refusal that names the first call', async () => {
    const k = newKey();
    const first = await pay(k).expect(200);
    await pay(k).expect(200);
    const replays =
      'SELECT status, code, first_call_id FROM refusal JOIN refusal_key ON refusal_id = id WHERE key = $1';
    const replay = { status: 200, code: 'idempotent_replay', first_call_id: first.headers['x-call-id'] };
    expect(await database.query(replays, [k])).toEqual([replay]);
  });

  it('accepts a quoted or bare key, and a body with another order and white space', async () => {
    const k = newKey();
    await pay(k).expect(200);
    const reordered = Object.fromEntries(Object.entries(AIRTIME.airtimes[0] ?? {}).reverse());
    await pay(`"${k}"`, { airtimes: [reordered] }).expect('Idempotent-Replayed', 'true');
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['an error with HTTP 200', 200, { status: 'success', data: { error: 'no' } }, 200],
    ['a 400', 400, { status: 'error', error: 'no' }, 400],
    ['a 500 with the envelope', 500, { status: 'error', error: 'fail' }, 500],
  ])('repeats a rejection of an unlisted operation unchanged: %s', async (_name, status, body, told) => {
    upstream.behaviour = answer(status, body, { 'retry-after': '7' });
    const k = newKey();
    const first = await create(k).expect(told);
    upstream.behaviour = succeed;
    const again = await create(k).expect(told);
    expect(again.text).toBe(first.text);
    // A client that obeyed it would repeat the request forever.
    expect(again.headers['retry-after']).toBeUndefined();
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    [401, 502, { status: 'error', error: 'no' }],
    [403, 502, '<html>blocked</html>'],
    [429, 503, { status: 'error', error: 'slow' }],
    [400, 400, { status: 'error', error: 'no' }],
    [500, 500, { status: 'error', error: 'no' }],
  ])('stays taken after a %i until the verdict, and then pays', async (status, told, body) => {
    upstream.behaviour = answer(status, body);
    const k = newKey();
    const first = await pay(k).expect(told);
    upstream.behaviour = succeed;
    const again = await pay(k).expect(409);
    expect(again.body).toMatchObject({ code: 'outcome_unknown', action: 'wait' });
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(status === 500 ? 800 : 20);
    await settleByHand(proxy, first);
    const paid = await pay(k).expect(200);
    expect(paid.headers['x-call-id']).not.toBe(first.headers['x-call-id']);
    expect((await pay(k).expect(200)).headers['x-call-id']).toBe(paid.headers['x-call-id']);
    expect(upstream.received).toHaveLength(2);
  });

  it.each([
    [200, { status: 'success', data: { error: 'None' } }, { status: 'success', message: expect.any(String) }],
    [400, { status: 'error', error: 'no' }, { status: 'error', error: expect.any(String) }],
  ])('returns the outcome of a %i after its answer was erased', async (status, body, shown) => {
    upstream.behaviour = answer(status, body, { 'content-type': 'application/json; charset=latin1' });
    const k = newKey();
    const first = await create(k).expect(status);
    const call_id = first.headers['x-call-id'];
    await database.query('DELETE FROM outcome_body WHERE intent_id = $1', [call_id]);
    const again = await create(k).expect(status).expect('Idempotent-Replayed', 'true');
    expect(again.body).toMatchObject({ ...shown, call_id });
    expect(again.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(again.text).toMatch(/its answer is no longer stored/i);
    expect(upstream.received).toHaveLength(1);
  });

  it('returns 422 for another body, and sends nothing', async () => {
    const k = newKey();
    const first = await pay(k).expect(200);
    const { body } = await pay(k, { airtimes: [{ ...AIRTIME.airtimes[0], valueInUSD: 3 }] }).expect(422);
    expect(body).toMatchObject({ code: 'idempotency_key_reused', first_call_id: first.headers['x-call-id'] });
    expect(upstream.received).toHaveLength(1);
  });

  it('separates operations and clients', async () => {
    const k = newKey();
    const other = (await proxy.client('other', 'pay')).key;
    await pay(k).expect(200);
    await pay(k, { receiver: 'sub-1', amount: 1 }, '/account/transfer').expect(200);
    await proxy.post(other, PATH, AIRTIME).set('Idempotency-Key', k).expect(200);
    expect(upstream.received).toHaveLength(3);
  });

  it.each([
    ['a timeout', hang],
    ['a broken connection', reset],
    ['a gateway error', answer(502, '<html>')],
  ])('blocks a resend while the outcome is unknown: %s', async (_name, behaviour) => {
    upstream.behaviour = behaviour;
    const k = newKey();
    const first = await pay(k);
    expect(first.body.code).toBe('outcome_unknown');
    upstream.behaviour = succeed;
    const { body } = await pay(k).expect(409);
    expect(body).toMatchObject({ code: 'outcome_unknown', first_call_id: first.headers['x-call-id'] });
    expect(body.error).toContain(`/v1/calls/${first.headers['x-call-id']}`);
    expect(upstream.received).toHaveLength(1);
  });

  it('becomes free after a call that was provably not sent, also for another body', async () => {
    const nowhere = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
    const k = newKey();
    await nowhere
      .post(key, PATH, AIRTIME)
      .set('Idempotency-Key', k)
      .expect(503, /upstream_unreachable/);
    await nowhere.close();
    const got = await pay(k, { airtimes: [{ ...AIRTIME.airtimes[0], valueInUSD: 9 }] }).expect(200);
    expect(got.headers['idempotent-replayed']).toBeUndefined();
    await pay(k).expect(422);
    expect(upstream.received).toHaveLength(1);
  });

  it('stays free after a bad body and a missing scope', async () => {
    const k = newKey();
    const reader = (await proxy.client('reader', 'read', 'account')).key;
    await pay(k, { airtimes: [] }).expect(400);
    await proxy.post(reader, PATH, AIRTIME).set('Idempotency-Key', k).expect(403);
    await pay(k).expect(200);
  });

  it('returns 400 for an invalid key, and sends nothing', async () => {
    for (const wrong of ['a b', '"unfinished', 'k'.repeat(256), '""'])
      await pay(wrong).expect(wrong === '"unfinished' ? 200 : 400);
    expect(upstream.received).toHaveLength(1);
  });

  it('waits for the concurrent duplicate, and returns 409 after a timeout', async () => {
    const k = newKey();
    let release = () => undefined as unknown;
    const slow = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    const arrived = new Promise<void>((resolve) => {
      upstream.behaviour = (...args) => {
        release = () => succeed(...args);
        resolve();
      };
    });
    const first = slow
      .post(key, PATH, AIRTIME)
      .set('Idempotency-Key', k)
      .then((got) => got);
    await arrived;
    const { body, headers } = await pay(k).expect(409);
    expect([body.code, headers['retry-after']]).toEqual(['request_in_progress', '1']);
    expect(body.first_call_id).toMatch(/^[0-9a-f-]{36}$/);
    release();
    expect((await first).status).toBe(200);
    await pay(k).expect(200).expect('Idempotent-Replayed', 'true');
    expect(upstream.received).toHaveLength(1);
    await slow.close();
  });

  it('has no effect on reads', async () => {
    const k = newKey();
    const read = () => proxy.get(key, '/api/v0.1/wallets/list').set('Idempotency-Key', k).expect(200);
    await read();
    await read();
    expect(upstream.received).toHaveLength(2);
  });

  it("is required by the client's settings", async () => {
    const { key: strict } = await proxy.client('strict', 'pay', 'read', 'account');
    await database.query("UPDATE client SET require_idempotency_key = TRUE WHERE name = 'strict'");
    const { body } = await proxy.post(strict, PATH, AIRTIME).expect(400);
    expect(body.code).toBe('idempotency_key_required');
    expect(body.error).toContain('Idempotency-Key');
    await proxy.post(strict, PATH, AIRTIME).set('Idempotency-Key', newKey()).expect(200);
    await proxy.get(strict, '/api/v0.1/wallets/list').expect(200);
  });

  it('replays its answer after the rules have changed', async () => {
    const { key: shop } = await proxy.client('shop', 'pay');
    const k = newKey();
    const send = () => proxy.post(shop, PATH, AIRTIME).set('Idempotency-Key', k);
    await send().expect(200);
    await database.query("UPDATE client SET daily_cap_usd = 1 WHERE name = 'shop'");
    await send().expect(200).expect('Idempotent-Replayed', 'true');
    await proxy
      .post(shop, PATH, AIRTIME)
      .set('Idempotency-Key', newKey())
      .expect(403, /cap_exceeded/);
  });

  it('appears in the record of its call', async () => {
    const k = newKey();
    const { headers } = await pay(k).expect(200);
    const found = await database.query('SELECT intent_id AS id FROM intent_body WHERE idempotency_key = $1', [
      k,
    ]);
    expect(found).toEqual([{ id: headers['x-call-id'] }]);
    expect(await record(headers['x-call-id'])).toMatchObject({ outcome: 'succeeded' });
  });
});

import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { answer, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { editPeople, insertSettlements } from '../../support/records/documents';
import { copyIntent } from '../../support/records/intents';

/** All records of one call. */
describe('the timeline of a call', () => {
  let paying: PaymentScene;
  beforeAll(async () => {
    paying = await startPaying();
  });
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.behaviour = succeed));

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const timeline = async (id: string) =>
    (await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  const pay = async () => (await paying.pay().expect(200)).headers['x-call-id'] as string;
  const codes = async (id: string) => (await timeline(id)).anomalies.map(({ code }) => code);

  it('shows each attempt, the seals of its records, and its readers', async () => {
    const id = await pay();
    const first = await timeline(id);
    expect(first.upstream?.tries).toEqual([
      {
        failure: null,
        ms: expect.any(Number),
        phase: 'answered',
        started_at: expect.any(String),
        status: 200,
      },
    ]);
    const open = { index: null, leaf_hash: null, checkpoint_size: null, sealed_at: null };
    expect(first.seals).toEqual([
      { kind: 'intent', ...open },
      { kind: 'outcome', ...open },
    ]);
    expect(first.accesses).toEqual({ count: 0, newest: [] });

    await paying.proxy.get(paying.auditor, '/v1/audit/calls?page_size=1').expect(200);
    const { accesses } = await timeline(id);
    expect(accesses.count).toBe(2);
    expect(accesses.newest.map(({ route }) => route)).toEqual([
      'GET /v1/audit/calls',
      'GET /v1/audit/calls/:id',
    ]);
  });

  it('shows the ledger of each payout from its reservation on', async () => {
    const transaction = { chiRef: 'ref-1', status: 'pending', fee: 0.1, phoneNumber: PHONE, valueInUSD: 2.5 };
    paying.upstream.behaviour = answer(200, {
      status: 'success',
      data: { data: [transaction], error: 'None' },
    });
    const id = await pay();
    const moved = { position: 0, amount_usd: '2.5', at: expect.any(String) };
    expect((await timeline(id)).ledger).toEqual([
      { ...moved, entry: 'reserved', from: 'available', to: 'reserved', status: null, source: 'request' },
      { ...moved, entry: 'pending', from: 'reserved', to: 'in_transit', status: 'pending', source: 'answer' },
      {
        ...moved,
        entry: 'fee',
        from: 'available',
        to: 'fees',
        amount_usd: '0.1',
        status: null,
        source: 'answer',
      },
    ]);
  });

  it('shows changes of its client, stops and configuration in the day before it', async () => {
    const { client } = await timeline(await pay());
    const other = await paying.proxy.client('bystander', 'pay');
    const act = (action: string, target: string | null, ago: string, more: string) =>
      query(
        `INSERT INTO activity (id, action, target_client_id, before, after, via, acted_at)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, 'start', clock_timestamp() - $5::interval)`,
        [action, target, more, more, ago],
      );
    await act('limits_changed', client.id, '2 days', '{"max_items":1}');
    await act('limits_changed', client.id, '3 hours', '{"max_items":2}');
    await act(
      'configuration_changed',
      null,
      '2 hours',
      '{"configuration":{"MAX_ITEMS":"3"},"process":"proxy"}',
    );
    await act('limits_changed', other.id, '2 hours', '{"max_items":4}');
    await act('wallet_low', null, '2 hours', '{"wallet_id":"5"}');
    const { key } = await paying.proxy.client('operator', 'admin');
    const stops = (method: 'post' | 'delete', path: string) =>
      supertest(paying.proxy.url)[method](`/v1/stops${path}`).set('X-API-Key', key);
    for (const operation of ['POST /payouts/airtime', 'POST /payouts/credit']) {
      const { body } = await stops('post', '').send({ operation, reason: 'drill' }).expect(201);
      await stops('delete', `/${(body as { id: string }).id}`).expect(200);
    }
    const since = new Date().toISOString();
    const id = await pay();
    await act('limits_changed', client.id, '-1 second', '{"max_items":6}');
    const { acts_before: acts } = await timeline(id);
    expect(acts.filter(({ at, action }) => at < since && !/client_created|key_issued/.test(action))).toEqual([
      expect.objectContaining({ action: 'stop_lifted' }),
      expect.objectContaining({
        action: 'stop_set',
        target: { client: null, key_id: null, operation: 'POST /payouts/airtime' },
      }),
      expect.objectContaining({
        action: 'configuration_changed',
        after: { process: 'proxy', configuration: { MAX_ITEMS: '3' } },
      }),
      expect.objectContaining({ action: 'limits_changed', before: { max_items: 2 } }),
    ]);
    expect(acts.filter(({ at }) => at >= since)).toEqual([]);
  });

  it('shows which checkpoint covers each record', async () => {
    const id = await pay();
    const hash = randomBytes(32);
    const earlier = '01a00000-0000-7000-8000-000000000000';
    await query(
      `INSERT INTO log_leaves (first, kind, span, ids, hashes)
       VALUES (6, 'intent', int8range(0, NULL), ARRAY[$1, $2]::uuid[], $3)`,
      [earlier, id, Buffer.concat([randomBytes(32), hash])],
    );
    for (const size of [7, 8, 9]) {
      await query(
        `INSERT INTO checkpoint (size, root, note, positions, sealed_at)
         VALUES ($1, $2, '', '{}', '2026-11-21T08:00:00Z')`,
        [size, hash],
      );
    }
    expect((await timeline(id)).seals[0]).toEqual({
      kind: 'intent',
      index: 7,
      leaf_hash: hash.toString('hex'),
      checkpoint_size: 8,
      sealed_at: '2026-11-21T08:00:00.000Z',
    });
  });

  it('shows differences between the request and the upstream response', async () => {
    const transactions = [
      { phoneNumber: PHONE, valueInUSD: '2', chiRef: 'a' },
      { phoneNumber: '+254700000000', valueInUSD: '1', chiRef: 'b' },
    ];
    paying.upstream.behaviour = answer(200, { status: 'success', data: { data: transactions } });
    const found = await codes(await pay());
    expect(found).toEqual([
      'item_without_transaction',
      'transaction_without_item',
      'transaction_without_item',
    ]);
    paying.upstream.behaviour = answer(200, { status: 'success', data: { data: transactions.slice(0, 1) } });
    expect(await codes(await pay())).toEqual(['amount_differs']);
    paying.upstream.behaviour = answer(200, { status: 'success', data: { error: 'None' } });
    expect(await codes(await pay())).toEqual(['item_without_transaction']);
  });

  it('shows stored data that was changed, lost or removed on purpose', async () => {
    const id = await pay();
    const own = () => codes(id);
    expect(await own()).toEqual([]);
    await query("UPDATE intent_body SET body = body || ' ' WHERE intent_id = $1", [id]);
    await query(editPeople(id, `replace(people, '${PHONE}', '+254712345679')`));
    expect(await own()).toEqual(['request_body_changed', 'recipient_changed']);

    for (const table of ['intent_body', 'outcome_body']) {
      await query(`DELETE FROM ${table} WHERE intent_id = $1`, [id]);
    }
    expect(await own()).toEqual(['request_body_missing', 'response_body_missing', 'recipient_missing']);
    await query(
      `INSERT INTO erasure (id, kind, reason, places, erased_at, signature)
       VALUES ($1, 'phone', 'asked', $2, now(), '')`,
      [uuidv7(), [`intent_body/${id}`, `item_recipient/${id}/0`]],
    );
    // An erasure leaves the commitments, so it does not explain a missing list.
    expect(await own()).toEqual(['request_body_erased', 'response_body_missing', 'recipient_missing']);
    const prune = (kept: string[]) =>
      query(
        `INSERT INTO pruning (id, what, month, reason, kept, rows, leaves, checkpoint, pruned_at, signature)
         VALUES ($1, 'people', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 'age', $2, 1, 0, '', now(), '')`,
        [uuidv7(), kept],
      );
    await prune([id]);
    expect(await own()).toContain('response_body_missing');
    await prune([]);
    expect(await own()).toEqual(['request_body_erased', 'response_body_erased', 'recipient_erased']);
  });

  it('shows a settlement as not executed that a later payment contradicts', async () => {
    const sent = await pay();
    const id = await copyIntent(paying.proxy.database, sent, {});
    await insertSettlements(paying.proxy.database, [
      { intent_id: id },
      { intent_id: id, number: 2, resolution: 'confirmed' },
    ]);
    expect(await codes(id)).toContain('success_after_not_executed');
  });

  it('shows the seal and the readers of a refused request', async () => {
    const { headers } = await paying.proxy
      .post(paying.app, '/payouts/airtime', { ...AIRTIME, x: 1 })
      .expect(400);
    const refused = await timeline(headers['x-call-id'] ?? '');
    expect(refused).toMatchObject({
      outcome: 'refused',
      anomalies: [],
      seals: [{ kind: 'refusal', index: null }],
    });
    expect((await timeline(headers['x-call-id'] ?? '')).accesses.count).toBe(1);
  });
});

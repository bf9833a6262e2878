import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { FenceService } from '../../src/continuity/fence/fence.service';
import { unexplainedHash } from '../../src/journal/reconciliation/unexplained-payments';
import supertest from '../support/http/supertest';
import { eventually, PHONE, phones, phoneOf } from '../support/payments/paying';
import { QueueScene, startQueueing } from '../support/queue/queueing';
import { live } from '../support/records/intents';

const PROCESS = 7_070;

/** At least the number of calls that an instance claims at once. */
const MANY = 64;

/** In its turn, a queued call is checked like a held call at its approval. */
describe('the turn of a queued call', () => {
  let queueing: QueueScene;

  beforeAll(async () => (queueing = await startQueueing()));
  afterAll(() => queueing.close());
  beforeEach(() => queueing.reset());
  afterEach(() => query('DELETE FROM queued_call'));

  const query = (sql: string, values?: unknown[]) => queueing.query(sql, values);
  const isClaimed = async (id: string) =>
    (await query('SELECT FROM queued_call WHERE intent_id = $1 AND process IS NOT NULL', [id])).length > 0;

  /** Enqueues a call, and does something between its claim and its release. */
  async function enqueueAnd(
    changes: Parameters<QueueScene['enqueue']>[0],
    meanwhile: (other: Client) => Promise<unknown>,
  ): Promise<string> {
    const other = new Client({ connectionString: queueing.proxy.database.ownerUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM client WHERE id = $1 FOR NO KEY UPDATE', [queueing.clientId]);
    const id = await queueing.enqueue(changes);
    await eventually(() => isClaimed(id));
    await meanwhile(other);
    await other.query('COMMIT'); // only now, the release can begin
    await other.end();
    return id;
  }

  it.each([
    ['key_revoked', 'its key is revoked', 'UPDATE api_key SET revoked_at = now()'],
    ['key_revoked', 'its key has expired', "UPDATE api_key SET expires_at = now() - interval '1 s'"],
    ['scope_missing', 'its client may no longer pay', "UPDATE client SET scopes = '{read}'"],
    [
      'operation_not_allowed',
      'its operation is switched off',
      "UPDATE client SET operations = '{POST /send}'",
    ],
    ['cap_exceeded', 'it exceeds a limit of one call', 'UPDATE client SET max_call_usd = 1'],
  ])('ends it as not sent (%s) if %s', async (failure, _why, change) => {
    const [client] = await query('SELECT * FROM client WHERE id = $1', [queueing.clientId]);
    const where = change.includes('api_key') ? 'client_id' : 'id';
    await query(`${change} WHERE ${where} = $1`, [queueing.clientId]);
    const id = await queueing.enqueue();
    await eventually(async () => !(await queueing.isInQueue(id)));
    await query('UPDATE api_key SET revoked_at = NULL, expires_at = NULL WHERE client_id = $1', [
      queueing.clientId,
    ]);
    await query('UPDATE client SET scopes = $2, operations = $3, max_call_usd = $4 WHERE id = $1', [
      queueing.clientId,
      client?.scopes,
      client?.operations,
      client?.max_call_usd,
    ]);
    const call = await queueing.read(id);
    expect(call).toMatchObject({
      outcome: 'not_sent',
      upstream: { failure },
      items: [{ state: 'not_executed' }],
    });
    expect(await queueing.spent()).toMatchObject({ usd: '0.000000' }); // given back
    expect(queueing.upstream.received).toEqual([]);
    expect(await queueing.isInQueue(id)).toBe(false);
  });

  it('ends it if one of its recipients is blocked', async () => {
    const { key } = await queueing.proxy.client('operator', 'admin');
    const change = (body: object) =>
      supertest(queueing.proxy.url).post('/v1/clients/app/beneficiaries').set('X-API-Key', key).send(body);
    await change({ list: 'blocked', add: [PHONE] }).expect(200);
    const id = await queueing.enqueue();
    const call = await queueing.become(id, 'not_sent');
    expect(call).toMatchObject({ upstream: { failure: 'recipient_not_allowed' } });
    await change({ list: 'blocked', remove: [PHONE] }).expect(200);
    expect(queueing.upstream.received).toEqual([]);
  });

  it('delays it while it may repeat a payment of a recovery gap', async () => {
    const finding = uuidv7();
    await query(
      `INSERT INTO finding (id, category, subject, upstream_ref, occurred_at, run_id)
       VALUES ($1, 'missing_local', 'x', 'CHI-lost', now(), $1)`,
      [finding],
    );
    await query(
      `INSERT INTO unexplained_payment (recipient, finding_id, usd, tolerance_usd) VALUES ($1, $2, 2.5, 0)`,
      [unexplainedHash(PHONE), finding],
    );
    const waiting = await queueing.enqueue();
    await queueing.passed();
    expect(await queueing.read(waiting)).toMatchObject({ outcome: 'queued' });
    expect(queueing.upstream.received).toEqual([]);
    await query('DELETE FROM unexplained_payment');
  });

  it('ends it once its time is up, and frees its key', async () => {
    const id = await queueing.enqueue({ expires_at: new Date(Date.now() - 1) });
    expect(await queueing.become(id, 'not_sent')).toMatchObject({ upstream: { failure: 'queue_expired' } });
    expect(await queueing.spent()).toMatchObject({ usd: '0.000000' });
    expect(queueing.upstream.received).toEqual([]);
  });

  it.each([
    [
      'content_changed',
      `UPDATE intent_body SET body = replace(convert_from(body, 'UTF8'), '2.5', '9.5')::bytea`,
    ],
    ['content_changed', 'DELETE FROM intent_body'],
  ])('ends it if its body is not the recorded one (%s)', async (failure, change) => {
    const beforehand = (id: string) => query(`${change} WHERE intent_id = $1`, [id]);
    const id = await queueing.enqueue({}, { beforehand });
    expect(await queueing.become(id, 'not_sent')).toMatchObject({ upstream: { failure } });
    expect(queueing.upstream.received).toEqual([]);
  });

  describe.each([
    ['everything', null, null],
    ['its client', 'its', null],
    ['its operation', null, 'POST /payouts/airtime'],
  ])('under a stop of %s', (_what, client, operation) => {
    const stop = () => ({
      text: 'INSERT INTO stop (id, stops_client_id, stops_operation, reason) VALUES ($1, $2, $3, $4)',
      values: [uuidv7(), client && queueing.clientId, operation, 'x'],
    });

    afterEach(() => query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop ON CONFLICT DO NOTHING'));

    it('only waits until the lift', async () => {
      const { text, values } = stop();
      await query(text, values);
      const id = await queueing.enqueue();
      await queueing.passed();
      expect(await queueing.read(id)).toMatchObject({ outcome: 'queued', items: [{ next: 'wait' }] });
      await query('INSERT INTO stop_lift (stop_id) VALUES ($1)', [values[0]]);
      await queueing.become(id, 'succeeded');
      expect(queueing.upstream.received).toHaveLength(1);
    });

    it('waits, too, if the stop is set between its claim and its release', async () => {
      const id = await enqueueAnd({}, (other) => other.query(stop()));
      await queueing.passed();
      expect(await queueing.read(id)).toMatchObject({ outcome: 'queued' });
      expect(queueing.upstream.received).toEqual([]);
    });
  });

  const fences = () => [queueing.proxy, queueing.second].map(({ app }) => app.get(FenceService));

  it.each([
    [
      'another instance has stopped everything',
      `INSERT INTO stop (id, reason, cause, epoch)
       SELECT $1, 'x', 'database_behind', max(number) FROM epoch`,
      () => [],
      () => query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop ON CONFLICT DO NOTHING'),
    ],
    [
      'the instance is fenced',
      'SELECT $1::uuid',
      () => fences().map((fence) => fence.raise('database_behind', 'It lacks a heartbeat.')),
      () => fences().map((fence) => fence.lower('database_behind')),
    ],
  ])('never ends it while the database may lack its release: %s', async (_why, sql, begin, end) => {
    const id = await enqueueAnd({ expires_at: new Date() }, async (other) => {
      begin();
      await other.query(sql, [uuidv7()]);
    });
    await eventually(async () => !(await isClaimed(id)));
    expect(await queueing.read(id)).toMatchObject({ outcome: 'queued' });
    await end();
    expect(await queueing.become(id, 'not_sent')).toMatchObject({ upstream: { failure: 'queue_expired' } });
  });

  it('comes although a stop covers all older calls of its client', async () => {
    const stop = uuidv7();
    const stopped = `'POST /payouts/airtime'`;
    await query(`INSERT INTO stop (id, stops_operation, reason) VALUES ($1, ${stopped}, 'x')`, [stop]);
    for (let older = 0; older < MANY; older += 1) await queueing.enqueue();
    const momo = {
      countryToSend: 'Kenya',
      phoneNumber: PHONE,
      valueInUSD: 1,
      momoCode: 'MPS',
      reference: '',
    };
    const { proxy, app } = queueing;
    const request = proxy.post(app, '/payouts/mobile-money', { momos: [momo] });
    const id = (await request.set('Prefer', 'respond-async').expect(202)).headers['x-call-id'] ?? '';
    const claimed = `SELECT xmin::text FROM queued_call WHERE operation = ${stopped} AND process > 0`;
    const claims = new Set<unknown>();
    await eventually(async () => {
      for (const { xmin } of await query(claimed)) claims.add(xmin);
      return (await queueing.read(id)).outcome === 'succeeded';
    });
    expect(claims.size).toBeLessThan(3); // at most one by each instance, in a round from before the stop
    await query('DELETE FROM queued_call');
    await query('INSERT INTO stop_lift (stop_id) VALUES ($1)', [stop]);
  });

  it('does not come while another process may still tell its app that it was not admitted', async () => {
    await live(queueing.proxy.database, PROCESS);
    const [known, unknown] = [await queueing.enqueue(), await queueing.enqueue({}, { process: PROCESS })];
    await queueing.become(known, 'succeeded');
    await queueing.passed();
    expect(await queueing.read(unknown)).toMatchObject({ outcome: 'queued' });
    await query('SELECT pg_advisory_unlock_all()');
    await queueing.become(unknown, 'succeeded');
  });

  it('does not come if it was refused', async () => {
    const refuse = (id: string) =>
      query(
        `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
           detail, faults, fault_count, received_at)
         SELECT $1, client_id, (record::json ->> 'key_id')::uuid, operation, 'x', '::1', 503,
           'database_unavailable', '', '[]', 0, now() FROM intent WHERE id = $1`,
        [id],
      );
    const id = await queueing.enqueue({}, { beforehand: refuse });
    await eventually(async () => !(await queueing.isInQueue(id)));
    expect(queueing.upstream.received).toEqual([]);
    expect(await query('SELECT FROM decision WHERE intent_id = $1', [id])).toEqual([]);
  });

  it('comes for the clients in turn, not for the longest queue', async () => {
    const { upstream, proxy } = queueing;
    const other = await proxy.client('other', 'pay', 'read');
    const many = phones(40);
    upstream.behaviour = () => undefined; // no answers, so the places fill up
    await Promise.all(many.map((phone) => queueing.pay(phone).set('Prefer', 'respond-async').expect(202)));
    const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }] };
    await proxy.post(other.key, '/payouts/airtime', body).set('Prefer', 'respond-async').expect(202);
    await eventually(() => upstream.received.some((one) => phoneOf(one) === '+254712345678'));
  });
});

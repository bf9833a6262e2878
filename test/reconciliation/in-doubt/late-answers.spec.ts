import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertOutcomesAgain } from '../../../src/journal/outcomes/outcomes';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import supertest from '../../support/http/supertest';
import { reset, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { insertOutcomes } from '../../support/records/documents';
import { copyIntent } from '../../support/records/intents';
import { paidOutcome } from '../../support/records/outcomes';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };

/** A process may be frozen until its call is settled, and record the answer later. */
describe('an answer after the settlement of its call', () => {
  let paying: PaymentScene;
  let approver: string;

  beforeAll(async () => {
    paying = await startPaying();
    approver = (await paying.proxy.client('approver', 'approve', 'audit')).key;
  });
  afterAll(() => paying.close());

  const settle = (call: string) =>
    supertest(paying.proxy.url)
      .post(`/v1/calls/${call}/resolution`)
      .set('X-API-Key', approver)
      .send({ outcome: 'not_executed', reason: 'not there' });
  /** Copies a call, as one whose process is gone, without its outcome. */
  const copyLost = (lost: string) =>
    copyIntent(paying.proxy.database, lost, { process: 999_999, recorded_at: '2026-01-01T00:00:00Z' });
  const loseCall = async () => {
    paying.upstream.behaviour = reset;
    return copyLost((await paying.pay().expect(502)).headers['x-call-id'] ?? '');
  };
  const begin = async () => {
    const other = new Client({ connectionString: paying.proxy.database.ownerUrl });
    await other.connect();
    await other.query('BEGIN');
    return other;
  };

  it('becomes a settlement', async () => {
    const { database, app } = paying.proxy;
    const id = await loseCall();
    await settle(id).expect(200);
    expect(await paying.record({ headers: { 'x-call-id': id } })).toMatchObject({
      outcome: 'not_executed',
      upstream: { failure: 'abandoned' },
    });
    const late = paidOutcome(id);
    for (let time = 0; time < 2; time += 1)
      await insertOutcomesAgain(app.get(PrismaService), [late], TIMEOUTS);
    const call = await paying.record({ headers: { 'x-call-id': id } });
    expect(call).toMatchObject({ outcome: 'confirmed', items: [{ state: 'paid' }] });
    expect(call.settlements.map(({ source, counted_usd }) => [source, counted_usd])).toEqual([
      ['answer', '2.5'],
      ['person', '0'],
    ]);
    expect(await database.query('SELECT FROM outcome_body WHERE intent_id = $1', [id])).toEqual([]);
    const kept = `SELECT record FROM settlement WHERE intent_id = $1 AND record LIKE '%254712345678%'`;
    expect(await database.query(kept, [id])).toEqual([]);
    // An answer that contradicts a settlement from the upstream's list changes nothing.
    const denied = { ...late, kind: 'rejected' as const, items: [], entries: ['not_executed' as const] };
    await insertOutcomesAgain(app.get(PrismaService), [denied], TIMEOUTS);
    expect((await paying.record({ headers: { 'x-call-id': id } })).settlements).toHaveLength(2);
  });

  describe('during other settlements', () => {
    /** Commits a transaction once another one waits for it. */
    async function commit(other: Client): Promise<void> {
      const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND transactionid = $1::xid';
      const [own] = (await other.query<{ xid: string }>('SELECT pg_current_xact_id()::xid AS xid')).rows;
      await eventually(async () => (await paying.proxy.database.query(waiting, [own?.xid])).length === 1);
      await other.query('COMMIT');
      await other.end();
    }

    /** Commits the call's next settlements, each just before the answer would take its number. */
    async function settleMeanwhile(id: string, numbers: number[], answering: () => Promise<unknown>) {
      const others: Client[] = [];
      for (const number of numbers) {
        const other = await begin();
        others.push(other);
        await other.query(
          `INSERT INTO settlement (id, intent_id, number, resolution, counted_usd, recorded_at, record)
           SELECT $1::uuid, intent_id, $2, resolution, counted_usd, recorded_at,
             jsonb_set(jsonb_set(record::jsonb, '{id}', to_jsonb($1::uuid)), '{number}',
               to_jsonb($2::integer))::text
           FROM settlement WHERE intent_id = $3 AND number = 1`,
          [uuidv7(), number, id],
        );
      }
      const answered = answering();
      for (const other of others) await commit(other);
      await answered;
    }

    async function settledByPerson(): Promise<string> {
      const id = await loseCall();
      await settle(id).expect(200);
      return id;
    }

    const answerAgain = (id: string) =>
      insertOutcomesAgain(paying.proxy.app.get(PrismaService), [paidOutcome(id)], TIMEOUTS);
    const sourcesOf = async (id: string) =>
      (await paying.record({ headers: { 'x-call-id': id } })).settlements.map(({ source }) => source);

    it('is the outcome, which a settlement without it must not contradict', async () => {
      const id = await loseCall();
      const answering = await begin();
      await insertOutcomes(answering, [{ intent_id: id, entries: ['paid'] }]);
      const settling = settle(id).then(({ status, body }) => [status, body.code]);
      await commit(answering);
      expect(await settling).toEqual([409, 'not_in_doubt']);
      expect(await sourcesOf(id)).toEqual([]);
    });

    it('becomes the next one', async () => {
      const id = await settledByPerson();
      await settleMeanwhile(id, [2], () => answerAgain(id));
      expect(await sourcesOf(id)).toEqual(['answer', 'person', 'person']);
    });

    it('counts as not written if others keep coming first', async () => {
      const id = await settledByPerson();
      await settleMeanwhile(id, [2, 3, 4], () =>
        expect(answerAgain(id)).rejects.toThrow('settled by others'),
      );
      await answerAgain(id);
      expect(await sourcesOf(id)).toEqual(['answer', 'person', 'person', 'person', 'person']);
    });
  });

  it('raises an alarm at once if another call was paid with its key meanwhile', async () => {
    const { database, app } = paying.proxy;
    const pay = () => paying.pay().set('Idempotency-Key', 'order-1');
    paying.upstream.behaviour = reset;
    const lost = (await pay().expect(502)).headers['x-call-id'] ?? '';
    const id = await copyLost(lost);
    await database.query('UPDATE idempotency_claim SET intent_id = $1 WHERE intent_id = $2', [id, lost]);
    await settle(id).expect(200);
    paying.upstream.behaviour = succeed;
    const paid = (await pay().expect(200)).headers['x-call-id'];
    const metric = async () =>
      (await paying.proxy.get('', '/metrics')).text.match(/^payout_proxy_keys_paid_twice .*$/m)?.[0];
    expect(await metric()).toBe('payout_proxy_keys_paid_twice 0');
    for (let time = 0; time < 2; time += 1)
      await insertOutcomesAgain(app.get(PrismaService), [paidOutcome(id)], TIMEOUTS);
    expect(await metric()).toBe('payout_proxy_keys_paid_twice 1');
    const { key: auditor } = await paying.proxy.client('activity-auditor', 'audit');
    const { body } = await paying.proxy.get(auditor, '/v1/activity?action=key_paid_twice').expect(200);
    expect(body.activity).toHaveLength(1);
    expect(body.activity[0]).toMatchObject({
      call_id: id,
      via: 'proxy',
      target: { client: { name: 'app' } },
    });
    expect(body.activity[0]?.reason).toBe(
      `Call ${id} was not executed, or failed, and is paid after all. Call ${paid} has its key now and is ` +
        'succeeded.',
    );
  });

  describe('with an idempotency key', () => {
    /** A client whose first call was settled as not executed, which frees its key for another call. */
    async function startAgain(name: string) {
      const { proxy, upstream } = paying;
      const client = await proxy.client(name, 'pay');
      const pay = () => proxy.post(client.key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
      upstream.behaviour = reset;
      const lost = (await pay().expect(502)).headers['x-call-id'] ?? '';
      const id = await copyLost(lost);
      for (const table of ['idempotency_claim', 'recent_content'])
        await proxy.database.query(`UPDATE ${table} SET intent_id = $1 WHERE intent_id = $2`, [id, lost]);
      await settle(id).expect(200);
      const answerLate = () => insertOutcomesAgain(proxy.app.get(PrismaService), [paidOutcome(id)], TIMEOUTS);
      /** Days later, beyond the duplicate window. */
      const retry = async () => {
        await proxy.database.query('DELETE FROM recent_content');
        upstream.received.length = 0;
        upstream.behaviour = succeed;
        const { status, headers } = await pay();
        return { status, call: headers['x-call-id'], sent: upstream.received.length };
      };
      const replay = { status: 200, call: id, sent: 0 };
      return { ...client, call: id, pay, answerLate, retry, replay };
    }

    const alarmsAbout = (id: string) =>
      paying.proxy.database.query(
        `SELECT reason FROM activity WHERE action = 'key_paid_twice' AND call_id = $1`,
        [id],
      );

    it('returns the key to its call after the concurrent duplicate was not executed', async () => {
      const { call, pay, answerLate, retry, replay } = await startAgain('free-again');
      await settle((await pay().expect(502)).headers['x-call-id'] ?? '').expect(200);
      await answerLate();
      expect(await retry()).toEqual(replay);
      expect(await alarmsAbout(call)).toEqual([]);
    });

    it('returns the key while the concurrent duplicate is in doubt, and raises the alarm', async () => {
      const { call, pay, answerLate, retry, replay } = await startAgain('open-again');
      const other = (await pay().expect(502)).headers['x-call-id'] ?? '';
      await answerLate();
      expect(await alarmsAbout(call)).toEqual([
        { reason: expect.stringContaining(`Call ${other} has its key now`) },
      ]);
      await settle(other).expect(200);
      expect(await retry()).toEqual(replay);
    });

    it('returns the key during an admission that takes it over, and raises the alarm', async () => {
      const { id: client, call, pay, answerLate } = await startAgain('at-once');
      const taken = (await pay().expect(502)).headers['x-call-id'] ?? '';
      const claim = 'UPDATE idempotency_claim SET intent_id = $1 WHERE intent_id = $2';
      await paying.proxy.database.query(claim, [call, taken]);
      const other = await begin();
      await other.query('SELECT FROM client WHERE id = $1 FOR NO KEY UPDATE', [client]);
      await other.query(claim, [taken, call]);
      const answered = answerLate();
      const waiting = `SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')`;
      let isOver = false;
      void answered.finally(() => (isOver = true));
      await eventually(async () => isOver || (await paying.proxy.database.query(waiting)).length > 0);
      await other.query('COMMIT');
      await other.end();
      await answered;
      expect(await alarmsAbout(call)).toHaveLength(1);
    });

    it('returns the key, and declines the concurrent duplicate that waits for an approval', async () => {
      const { name, call, pay, answerLate, retry, replay } = await startAgain('held-again');
      const { database, url } = paying.proxy;
      await database.query('UPDATE client SET approval_over_usd = 1 WHERE name = $1', [name]);
      const held = (await pay().expect(202)).body.call_id;
      await answerLate();
      const approve = supertest(url).post(`/v1/approvals/${held}/approve`).set('X-API-Key', approver);
      expect((await approve.send({ reason: 'agreed' }).expect(409)).body.code).toBe('already_decided');
      expect(await retry()).toEqual(replay);
      expect(await alarmsAbout(call)).toEqual([]);
    });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { eraseKeys } from '../../../src/history/retention/keys';
import { insertOutcomesAgain } from '../../../src/journal/outcomes/outcomes';
import { restoreFromCopies } from '../../../src/journal/recovery/recovery';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import supertest from '../../support/http/supertest';
import { answer, FakeUpstream, reset, succeed } from '../../support/network/fake-upstream';
import { loseCalls } from '../../support/payments/lost-calls';
import { AIRTIME } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { copyIntent } from '../../support/records/intents';
import { paidOutcome } from '../../support/records/outcomes';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };
const PAID = succeed;
const FORBIDDEN = answer(403, { error: 'forbidden' });
const ERASED = /^sha256 [0-9a-f]{64}$/;

/** Claims of erased keys contain a hash. Every use of claims must find it by the key. */
describe('a claim with an erased key', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-erased-'));
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let owner: Client;
  let app: { id: string; key: string };
  let approver: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir });
    owner = new Client({ connectionString: proxy.database.ownerUrl });
    await owner.connect();
    app = await proxy.client('shop', 'pay', 'read');
    approver = (await proxy.client('approver', 'approve', 'audit', 'audit:pii')).key;
  });
  afterAll(async () => {
    await owner.end();
    await proxy.close();
    await upstream.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const pay = async (order: string, behaviour = PAID) => {
    upstream.behaviour = behaviour;
    upstream.received.length = 0;
    const { status, headers } = await proxy
      .post(app.key, '/payouts/airtime', AIRTIME)
      .set('Idempotency-Key', order);
    return { status, call: headers['x-call-id'] ?? '', sent: upstream.received.length };
  };
  const claimsOf = (...calls: string[]) =>
    proxy.database.query<{ key: string; id: string }>(
      'SELECT key, intent_id AS id FROM idempotency_claim WHERE intent_id = ANY ($1)',
      [calls],
    );
  const restore = () => restoreFromCopies(proxy.app.get(PrismaService), [dataDir], TIMEOUTS);
  const alarms = () => proxy.database.query(`SELECT call_id FROM activity WHERE action = 'key_paid_twice'`);
  const settle = (call: string) =>
    supertest(proxy.url)
      .post(`/v1/calls/${call}/resolution`)
      .set('X-API-Key', approver)
      .send({ outcome: 'not_executed', reason: 'not there' })
      .expect(200);
  /** Sends a call that the upstream rejects and a person settles, which frees the key. */
  const beForbidden = async (order: string) => {
    const sent = await pay(order, FORBIDDEN);
    await settle(sent.call);
    return sent;
  };
  const payLate = (call: string) =>
    insertOutcomesAgain(proxy.app.get(PrismaService), [paidOutcome(call)], TIMEOUTS);

  it('is transferred unchanged to a call that may have the key', async () => {
    const first = await beForbidden('order-1');
    await eraseKeys(owner, [first.call], []);
    const second = await pay('order-1');
    expect([second.status, second.sent]).toEqual([200, 1]);
    expect(await claimsOf(first.call, second.call)).toEqual([
      { key: expect.stringMatching(ERASED), id: second.call },
    ]);
    expect(await pay('order-1')).toEqual({ status: 200, call: second.call, sent: 0 });
  });

  /** Returns an abandoned call that was settled as not executed, and whose key was erased. */
  async function givenUp(order: string): Promise<string> {
    const { call } = await pay(order, reset);
    const id = await copyIntent(proxy.database, call, {
      process: 999_999,
      recorded_at: '2026-01-01T00:00:00Z',
    });
    await proxy.database.query('UPDATE idempotency_claim SET intent_id = $1 WHERE intent_id = $2', [
      id,
      call,
    ]);
    await settle(id);
    await eraseKeys(owner, [id], []);
    await proxy.database.query('DELETE FROM recent_content');
    return id;
  }

  it('returns to its call if that was paid after all', async () => {
    const lost = await givenUp('order-2');
    const other = await pay('order-2', reset);
    expect(await claimsOf(other.call)).toMatchObject([{ key: expect.stringMatching(ERASED) }]);
    await settle(other.call);
    await payLate(lost);
    await proxy.database.query('DELETE FROM recent_content');
    expect(await pay('order-2')).toEqual({ status: 200, call: lost, sent: 0 });
  });

  it('raises an alarm if both calls were paid', async () => {
    const lost = await givenUp('order-3');
    await pay('order-3');
    await payLate(lost);
    expect(await alarms()).toEqual([{ call_id: lost }]);
  });

  describe('of a call restored from a copy', () => {
    const found = async (order: string) => {
      const { body } = await proxy.get(app.key, `/v1/calls?idempotency_key=${order}`).expect(200);
      return body.calls.map((call) => [call.id, call.idempotency_key]);
    };

    it('gets its key and commitment again', async () => {
      await proxy.database.query('DELETE FROM recent_content');
      const { call } = await pay('order-4');
      await loseCalls(proxy.database, dataDir, call);
      await restore();
      expect(await claimsOf(call)).toEqual([{ key: 'order-4', id: call }]);
      expect(await found('order-4')).toEqual([[call, 'order-4']]);
      const { body } = await proxy.get(approver, `/v1/audit/calls/${call}`).expect(200);
      expect(body.anomalies.map(({ code }) => code).filter((code) => /key/.test(code))).toEqual([]);
      const [row] = await proxy.database.query<{ opened: boolean }>(
        `SELECT i.record::json ->> 'idempotency_key_commitment' = encode(
           sha256(b.idempotency_key_salt || convert_to(b.idempotency_key, 'UTF8')), 'hex') AS opened
         FROM intent i JOIN intent_body b ON b.intent_id = i.id WHERE i.id = $1`,
        [call],
      );
      expect(row).toEqual({ opened: true });
      expect(await pay('order-4')).toEqual({ status: 200, call, sent: 0 });
    });

    it('transfers to a later call if the earlier call left the key free', async () => {
      await proxy.database.query('DELETE FROM recent_content');
      const first = await beForbidden('order-5');
      const second = await pay('order-5');
      await loseCalls(proxy.database, dataDir, second.call);
      await proxy.database.query(
        `INSERT INTO idempotency_claim (client_id, operation, key, intent_id)
         VALUES ($1, 'POST /payouts/airtime', 'order-5', $2)`,
        [app.id, first.call],
      );
      await eraseKeys(owner, [first.call], []);
      await restore();
      expect(await claimsOf(first.call, second.call)).toEqual([
        { key: expect.stringMatching(ERASED), id: second.call },
      ]);
      expect(await pay('order-5')).toEqual({ status: 200, call: second.call, sent: 0 });
    });

    it('returns its key from a later call that was not paid', async () => {
      await proxy.database.query('DELETE FROM recent_content');
      const first = await pay('order-6');
      await loseCalls(proxy.database, dataDir, first.call);
      const younger = await beForbidden('order-6');
      await eraseKeys(owner, [younger.call], []);
      await restore();
      expect(await claimsOf(first.call, younger.call)).toEqual([
        { key: expect.stringMatching(ERASED), id: first.call },
      ]);
    });
  });
});

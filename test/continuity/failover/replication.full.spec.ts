import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { SpooledOutcomes } from '../../../src/journal/recovery/spooled-outcomes';
import { RunningConfig, SETTINGS } from '../../../src/platform/config/config';
import { PostgresPair } from '../../support/databases/postgres-pair';
import { TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream, reset, succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, phoneOf } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { copyIntent } from '../../support/records/intents';
import { paidOutcome } from '../../support/records/outcomes';

/** A commit that the synchronous standby has not confirmed counts as none. */
describe('a synchronous standby', () => {
  let pair: PostgresPair;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;

  beforeAll(async () => {
    [pair, upstream] = await Promise.all([PostgresPair.start(), FakeUpstream.start()]);
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, requestDeadlineMs: 2_000 }, pair.database);
    app = (await proxy.client('app', 'pay')).key;
  });
  afterAll(async () => {
    await proxy?.close();
    await upstream?.stop();
    await pair?.close();
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = succeed;
  });

  let names = 0;
  const nextPhone = () => `+2547${String((names += 1)).padStart(8, '0')}`;
  /** A key must not contain a phone number. */
  const keyOf = (phone: string) => `order-${Number(phone.slice(-8))}`;
  const pay = (phone: string) =>
    proxy.post(app, '/payouts/airtime', airtime(phone)).set('Idempotency-Key', keyOf(phone));
  const isReady = async () => (await proxy.get('', '/readyz')).status === 200;

  it('makes the proxy unready while frozen, and nothing is sent until it confirms', async () => {
    const phone = nextPhone();
    pair.freezeStandby();
    const { body } = await pay(phone).expect(503); // while it is frozen
    expect(body.code).toBe('database_unavailable');
    await eventually(async () => !(await isReady()));
    expect(upstream.received).toHaveLength(0);
    pair.thawStandby();
    await eventually(isReady);
    await eventually(async () => (await pay(phone)).status === 200);
    expect(upstream.received).toHaveLength(1);
    expect(await pair.database.query('SELECT sum(usd)::float8 AS usd FROM spending')).toEqual([{ usd: 2.5 }]);
  });

  it('keeps a spooled outcome on disk until it confirms the outcome', async () => {
    upstream.behaviour = reset;
    const { headers } = await pay(nextPhone()).expect(502);
    const id = await copyIntent(pair.database, headers['x-call-id'] ?? '', {});
    const { dataDir } = proxy.app.get<RunningConfig>(SETTINGS);
    const file = join(dataDir, 'outcomes', `${id}.json`);
    const spooled = proxy.app.get(SpooledOutcomes, { strict: false });
    await spooled.keep(paidOutcome(id));
    pair.freezeStandby();
    await spooled.release(id, false);
    const waiting = (statement: string) =>
      pair.database.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE $1`,
        [statement],
      );
    // The outcome is written, and a failover would lose it. The next attempt finds it in place.
    await eventually(async () => (await waiting('%insert_outcomes_again%')).length > 0);
    await eventually(
      async () => !existsSync(file) || (await waiting('%pg_logical_emit_message%')).length > 0,
    );
    expect(existsSync(file)).toBe(true);
    pair.thawStandby();
    await eventually(() => !existsSync(file));
    await eventually(isReady);
  });

  it('blocks an admission until it confirms it, whatever client_min_messages is set to', async () => {
    const { username, pathname } = new URL(pair.database.url);
    await pair.database.query(
      `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)} SET client_min_messages = 'error'`,
    );
    await pair.database.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ' +
        'pid <> pg_backend_pid()',
    );
    await eventually(async () => (await pay(nextPhone())).status === 200);
    upstream.received.length = 0;
    pair.freezeStandby();
    const paid = pay(nextPhone()).then(({ body }) => body.code);
    const cancelled = () =>
      pair.database.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    await eventually(async () => (await cancelled()).length > 0);
    const cancelling = setInterval(() => void cancelled(), 50);
    const code = await paid;
    clearInterval(cancelling);
    pair.thawStandby();
    expect([code, upstream.received]).toEqual(['database_unavailable', []]);
    await eventually(isReady);
  });

  it('loses no call and no response at failover after cancelled waits for it', async () => {
    const answered: string[] = [];
    const ask = async (phone: string) => {
      const { status } = await pay(phone);
      if (status === 200) answered.push(phone);
    };
    // Some are being paid when the standby goes, and their outcomes are still to come.
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    upstream.behaviour = async (...exchange) => {
      await released;
      await succeed(...exchange);
    };
    const asked = Array.from({ length: 10 }, () => ask(nextPhone()));
    await eventually(() => upstream.received.length === 10);
    await pair.killStandby();
    for (let count = 0; count < 30; count += 1) asked.push(ask(nextPhone()));
    const waiting = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    let cancelled = 0;
    const cancelling = setInterval(() => {
      void pair.database.query(waiting).then(
        (rows) => (cancelled += rows.length),
        () => undefined, // the primary is gone by then
      );
    }, 50);
    await eventually(() => cancelled > 0);
    release();
    await Promise.race([eventually(() => cancelled > 60), Promise.all(asked)]);
    const fenced = proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
    const promoted = await pair.failOver();
    clearInterval(cancelling);
    await Promise.all(asked);
    await expectNothingLost(promoted, upstream.received.map(phoneOf), answered);
    expect(fenced).toContain('replication_unconfirmed');
  });

  async function expectNothingLost(
    promoted: TestDatabase,
    sent: string[],
    answered: string[],
  ): Promise<void> {
    const calls = await promoted.query<{ key: string; outcome: string | null }>(
      `SELECT b.idempotency_key AS key, o.kind AS outcome FROM intent i
        LEFT JOIN intent_body b ON b.intent_id = i.id LEFT JOIN outcome o ON o.intent_id = i.id`,
    );
    const outcomes = new Map(calls.map(({ key, outcome }) => [key, outcome]));
    expect(sent.filter((phone) => !outcomes.has(keyOf(phone)))).toEqual([]);
    expect(answered.filter((phone) => outcomes.get(keyOf(phone)) !== 'succeeded')).toEqual([]);
    expect(sent.length).toBeGreaterThanOrEqual(10);
  }
});

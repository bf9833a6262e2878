import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { isUnavailable } from '../../../src/platform/database/pools/unavailable';
import { PostgresPair } from '../../support/databases/postgres-pair';
import { TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { Gate } from '../../support/payments/gate';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** The address leads to the new primary. Connections to the old one live on, and neither lacks a record. */
describe('an instance with connections to two primaries', () => {
  let pair: PostgresPair;
  let promoted: TestDatabase;
  let upstream: FakeUpstream;
  let gate: Gate;
  let first: TestProxy;
  let second: TestProxy;
  let key: string;
  let sessionsOfSecond: number[];
  const paused = new Map<TestProxy, jest.SpyInstance>();

  const sessions = async (database: TestDatabase, which = 'true') =>
    (
      await database.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE usename = $1 AND backend_type = 'client backend' AND ${which}`,
        [new URL(pair.database.url).username],
      )
    ).map(({ pid }) => pid);
  const beating = `application_name = 'payout-proxy heartbeat'`;
  const end = (pids: number[]) =>
    pair.database.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [pids]);
  const pay = (proxy: TestProxy, order: string) =>
    proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);
  const reasons = (proxy: TestProxy) => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
  const heartbeatOf = (proxy: TestProxy) => proxy.app.get(HeartbeatService);
  const keysOn = async (database: TestDatabase) =>
    (await database.query<{ key: string }>('SELECT key FROM idempotency_claim ORDER BY key')).map(
      (row) => row.key,
    );

  beforeAll(async () => {
    [pair, upstream] = await Promise.all([PostgresPair.start(''), FakeUpstream.start()]);
    upstream.behaviour = succeed;
    let target = pair.database.url;
    gate = await Gate.start(() => target);
    const [url, ownerUrl] = [pair.database.url, pair.database.ownerUrl].map((one) =>
      Object.assign(new URL(one), { port: new URL(gate.url).port }).toString(),
    ) as [string, string];
    const start = () =>
      startProxy(
        { upstreamBaseUrl: upstream.url, requestDeadlineMs: 2_000 },
        { ...pair.database, url, ownerUrl },
      );
    first = await start();
    key = (await first.client('app', 'pay')).key;
    const others = await sessions(pair.database);
    second = await start();
    sessionsOfSecond = (await sessions(pair.database)).filter((pid) => !others.includes(pid));
    for (const proxy of [first, second]) {
      await heartbeatOf(proxy).beat();
      // the new primary lacks no heartbeat
      paused.set(proxy, jest.spyOn(heartbeatOf(proxy), 'beat').mockResolvedValue());
    }
    // Several connections at once. They stay open while idle.
    const nap = () => first.app.get(PrismaService).prepared('nap', 'SELECT pg_sleep(0.1)::text', []);
    await Promise.all([nap(), nap(), nap()]);
    promoted = await pair.promote();
    target = promoted.url;
    // neither waits for the other
    await promoted.query(`UPDATE instance SET beat_at = beat_at - interval '1 hour'`);
  });
  afterAll(async () => {
    await first?.close();
    await second?.close();
    await gate?.stop();
    await upstream?.stop();
    await pair?.close();
  });
  beforeEach(() => {
    upstream.received.length = 0;
  });

  it('does not pay while its heartbeat and a new connection are on different primaries', async () => {
    const heartbeats = await sessions(pair.database, beating);
    await end(sessionsOfSecond.filter((pid) => !heartbeats.includes(pid)));
    await eventually(async () => (await pay(second, 'order-1')).body.code === 'instance_fenced');
    expect(reasons(second)).toEqual(['database_unconfirmed']);
    expect(upstream.received).toHaveLength(0);
    paused.get(second)?.mockRestore();
    await heartbeatOf(second).beat();
    expect(reasons(second)).toEqual([]);
    await pay(second, 'order-1').expect(200);
    expect(await sessions(promoted, beating)).toHaveLength(1);
  });

  it('drops its connections to the old primary once its heartbeat is on the new one', async () => {
    const held = first.app
      .get(PrismaService)
      .prepared('held', 'SELECT pg_sleep(60)::text', [])
      .catch((error: unknown) => error);
    await eventually(async () => (await sessions(pair.database, `query LIKE '%pg_sleep(60)%'`)).length === 1);
    const timelines: number[] = [];
    heartbeatOf(first).observe(({ timeline }) => timelines.push(timeline));
    await end(await sessions(pair.database, beating));
    // A heartbeat that the old primary confirms after the promotion would be missing on the new one.
    await eventually(async () => (await sessions(pair.database, beating)).length === 0);
    paused.get(first)?.mockRestore();
    await eventually(() => timelines.includes(2));
    await pay(first, 'order-2').expect(200);
    expect(await keysOn(pair.database)).toEqual([]);
    expect(await keysOn(promoted)).toContain('order-2');
    expect([isUnavailable(await held), reasons(first)]).toEqual([true, []]);
    // Postgres does not notice that nobody waits
    await end(await sessions(pair.database, `query LIKE '%pg_sleep(60)%'`));
    await eventually(async () => (await sessions(pair.database)).length === 0);
  });
});

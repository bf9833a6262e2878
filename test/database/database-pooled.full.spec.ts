import { FenceService } from '../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../src/continuity/heartbeat/heartbeat.service';
import { RunningConfig } from '../../src/platform/config/config';
import { requireSessionLocks } from '../../src/platform/database/checks/engine-check';
import { requireConnections } from '../../src/platform/database/checks/pooler-check';
import { HAS_PGBOUNCER, PgBouncer } from '../support/databases/pgbouncer';
import { PostgresPair } from '../support/databases/postgres-pair';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

const LIMITS = [
  `statement_timeout = '10000ms'`,
  `lock_timeout = '1000ms'`,
  `idle_in_transaction_session_timeout = '3000ms'`,
];
const loginOf = ({ url }: TestDatabase) => new URL(url).username;

/** In one database only: other tests have the same login. */
async function limit(database: TestDatabase, settings: string[]): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  for (const setting of settings)
    await database.query(`ALTER ROLE ${loginOf(database)} IN DATABASE ${name} SET ${setting}`);
}

const settingsOf = ({ url, ownerUrl }: TestDatabase, sessionUrl?: string) => ({
  databaseUrl: url,
  databaseOwnerUrl: ownerUrl,
  databaseSessionUrl: sessionUrl,
  databasePoolSize: 4,
});

describe('a pooled database with a session URL', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let key: string;
  let sessionUrl: string;
  const pay = (order: string) => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);

  beforeAll(async () => {
    [database, upstream] = await Promise.all([createTestDatabase(), FakeUpstream.start()]);
    upstream.behaviour = succeed;
    sessionUrl = `${database.url}?application_name=session`;
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, databaseSessionUrl: sessionUrl }, database);
    key = (await proxy.client('app', 'pay')).key;
  });
  afterAll(async () => {
    await proxy?.close();
    await upstream?.stop();
    await database?.close();
  });

  it('is refused while the login lacks the limits that a pooler does not forward', async () => {
    const checked = requireConnections(settingsOf(database, sessionUrl));
    await expect(checked).rejects.toThrow(
      `ALTER ROLE "${loginOf(database)}" SET statement_timeout = '10000ms';\nALTER ROLE ` +
        `"${loginOf(database)}" SET lock_timeout = '1000ms';`,
    );
    await limit(database, [...LIMITS, `client_min_messages = 'error'`]);
    await expect(requireConnections(settingsOf(database, sessionUrl))).rejects.toThrow(
      `client_min_messages = 'warning'`,
    );
    await limit(database, [`client_min_messages = 'warning'`]);
    await requireConnections(settingsOf(database, sessionUrl));
    await requireConnections(settingsOf(database));
  });

  it('prepares no statements on payment connections, and locks on the session URL', async () => {
    await pay('order-1').expect(200);
    await pay('order-1').expect(200).expect('Idempotent-Replayed', 'true');
    const sessions = await database.query<{ name: string; lock: boolean }>(
      `SELECT application_name AS name, EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid
        AND locktype = 'advisory') AS lock
       FROM pg_stat_activity a WHERE datname = current_database() AND usename = $1`,
      [loginOf(database)],
    );
    expect(sessions.filter(({ lock }) => lock)).toEqual([{ name: 'session', lock: true }]);
    expect(sessions.map(({ name }) => name)).toEqual(expect.arrayContaining(['', 'payout-proxy heartbeat']));
  });

  it('sends nothing admitted on a server other than that of the heartbeat', async () => {
    const heartbeat = proxy.app.get(HeartbeatService);
    await heartbeat.beat();
    const beat = jest.spyOn(heartbeat, 'beat').mockResolvedValue();
    const [{ body } = { body: '' }] = await database.query<{ body: string }>(
      `SELECT prosrc AS body FROM pg_proc WHERE proname = 'database_server'`,
    );
    const become = (source: string) =>
      database.query(
        `CREATE OR REPLACE FUNCTION database_server() RETURNS text LANGUAGE sql STABLE AS $$ ${source} $$`,
      );
    await become(`SELECT '7000000000000000000/1'`);
    const sent = upstream.received.length;
    const refused = await pay('order-2').expect(503);
    expect(refused.body.code).toBe('instance_fenced');
    expect(upstream.received).toHaveLength(sent);
    expect(proxy.app.get(FenceService).reasons.map(({ reason }) => reason)).toEqual(['database_unconfirmed']);
    await become(body);
    beat.mockRestore();
    await eventually(async () => (await pay('order-2')).status === 200);
    expect(upstream.received).toHaveLength(sent + 1);
  });
});

if (HAS_PGBOUNCER) {
  describe('behind PgBouncer', () => {
    let pair: PostgresPair;
    let upstream: FakeUpstream;
    let bouncer: PgBouncer;
    const proxies: TestProxy[] = [];
    let clients = 0;

    beforeAll(async () => {
      [pair, upstream] = await Promise.all([PostgresPair.start(), FakeUpstream.start()]);
      upstream.behaviour = succeed;
    });
    afterEach(async () => {
      for (const proxy of proxies.splice(0)) await proxy.close();
      await bouncer?.close();
    });
    afterAll(async () => {
      await upstream?.stop();
      await pair?.close();
    });

    const bounce = async (parameters: string) =>
      (bouncer = await PgBouncer.start(pair.database.url, parameters));
    const check = (sessionUrl?: string) =>
      requireConnections({
        ...settingsOf(pair.database, sessionUrl),
        databaseUrl: bouncer.through(pair.database.url),
      });
    const start = async (settings: Partial<RunningConfig>) => {
      const database = { ...pair.database, url: bouncer.through(pair.database.url) };
      const proxy = await startProxy({ upstreamBaseUrl: upstream.url, ...settings }, database);
      proxies.push(proxy);
      const { key } = await proxy.client(`app-${(clients += 1)}`, 'pay');
      const pay = (order: string) =>
        proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);
      return { proxy, pay };
    };
    const IGNORED =
      'ignore_startup_parameters = ' +
      'statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options';

    it('logs at the start what the pooler removes', async () => {
      await bounce('pool_mode = session');
      await expect(check()).rejects.toThrow(
        /pooler that refuses start-up parameters .* Set DATABASE_SESSION_URL/,
      );
      await bouncer.close();
      await bounce(`pool_mode = session\n${IGNORED}`);
      await expect(check()).rejects.toThrow('lack the limits that payments need');
      await limit(pair.database, LIMITS);
      await bouncer.close();
      await bounce(`pool_mode = session\n${IGNORED}`);
      await check();
      await bouncer.close();
      await bounce(`pool_mode = transaction\n${IGNORED}`);
      await expect(requireSessionLocks(bouncer.through(pair.database.url))).rejects.toThrow(
        'set DATABASE_SESSION_URL',
      );
      await check(pair.database.url);
    });

    it('pays in session mode, and again after the pooler restarts', async () => {
      await bounce(`pool_mode = session\n${IGNORED}`);
      const { pay } = await start({});
      await pay('order-1').expect(200);
      await bouncer.kill();
      expect((await pay('order-2')).status).toBe(503);
      bouncer.run();
      await eventually(async () => (await pay('order-2')).status === 200);
      await pay('order-1').expect(200).expect('Idempotent-Replayed', 'true');
    });

    it('pays in transaction mode on few sessions, and follows the pooler to another server', async () => {
      await bounce('pool_mode = transaction\ndefault_pool_size = 3');
      const { proxy, pay } = await start({ databaseSessionUrl: pair.database.url });
      const orders = Array.from({ length: 20 }, (_, index) => `order-${index}`);
      const answers = await Promise.all(orders.map((order) => pay(order)));
      expect(answers.map(({ status }) => status)).toEqual(orders.map(() => 200));
      const sent = upstream.received.length;
      for (const order of orders) await pay(order).expect(200).expect('Idempotent-Replayed', 'true');
      expect(upstream.received).toHaveLength(sent);

      const timelines: number[] = [];
      proxy.app.get(HeartbeatService).observe(({ timeline }) => timelines.push(timeline));
      const promoted = await pair.promote(); // the primary lives on, and the locks stay there
      // those of other tests have stopped
      await promoted.query(`UPDATE instance SET beat_at = beat_at - interval '1 hour'`);
      await bouncer.moveTo(promoted.url);
      await eventually(() => timelines.includes(2));
      await eventually(async () => (await pay('order-0')).status === 200);
      expect(upstream.received).toHaveLength(sent);
    });

    it('detects a server without a payment behind persistent connections', async () => {
      const own = await PostgresPair.start('');
      await limit(own.database, LIMITS);
      bouncer = await PgBouncer.start(own.database.url, 'pool_mode = transaction\nserver_login_retry = 1');
      const database = { ...own.database, url: bouncer.through(own.database.url) };
      const settings = { upstreamBaseUrl: upstream.url, databaseSessionUrl: own.database.url };
      const proxy = await startProxy(settings, database);
      const { key } = await proxy.client('app', 'pay');
      const pay = () => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-lost');
      const heartbeat = proxy.app.get(HeartbeatService);
      await heartbeat.beat();
      const beat = jest.spyOn(heartbeat, 'beat').mockResolvedValue();
      const all = 'SELECT FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()';
      await eventually(async () => (await own.database.query(all)).length === 1);
      await own.killStandby();
      await pay().expect(200);
      const sent = upstream.received.length;
      const promoted = await own.failOver();
      await bouncer.moveTo(promoted.url);
      beat.mockRestore();
      const reasons = () => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
      await eventually(() => reasons().includes('database_behind'));
      expect((await pay().expect(503)).body.code).toBe('instance_fenced');
      expect(upstream.received).toHaveLength(sent);
      await proxy.close();
      await own.close();
    });
  });
}

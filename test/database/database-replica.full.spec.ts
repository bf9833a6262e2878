import { tmpdir } from 'node:os';
import { ReplicaService } from '../../src/platform/database/pools/replica.service';
import { PostgresPair } from '../support/databases/postgres-pair';
import { TestDatabase } from '../support/databases/test-database';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { runCli } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';

describe('a read replica', () => {
  let pair: PostgresPair;
  let standby: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;
  let orders = 0;

  const reads = () => proxy.app.get(ReplicaService).reads;
  const pay = async () => {
    const key = `order-${(orders += 1)}`;
    await proxy.post(app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', key).expect(200);
    return key;
  };
  const find = async (key: string) => {
    const { body } = await proxy.get(auditor, `/v1/audit/calls?idempotency_key=${key}`).expect(200);
    return (body as { calls: { outcome: string }[] }).calls;
  };
  const count = async () => {
    const { body } = await proxy.get(auditor, '/v1/audit/summary').expect(200);
    return (body as { groups: { calls: number }[] }).groups.reduce((sum, { calls }) => sum + calls, 0);
  };
  /** Resolves once a read was answered by this server. Every answer must have the newest payment. */
  const readsFrom = (server: 'primary' | 'replica') =>
    eventually(async () => {
      const before = { ...reads() };
      expect(await find(await pay())).toMatchObject([{ outcome: 'succeeded' }]);
      const other = server === 'primary' ? 'replica' : 'primary';
      return reads()[server] > before[server] && reads()[other] === before[other];
    });

  beforeAll(async () => {
    [pair, upstream] = await Promise.all([PostgresPair.start(''), FakeUpstream.start()]);
    upstream.behaviour = succeed;
    standby = pair.replica;
    proxy = await startProxy(
      { upstreamBaseUrl: upstream.url, databaseReplicaUrl: standby.url },
      pair.database,
    );
    app = (await proxy.client('app', 'pay')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await proxy?.close();
    await upstream?.stop();
    await pair?.close();
  });

  it('serves the content of calls while only the primary has the search index', async () => {
    const before = { ...reads() };
    expect(await find(await pay())).toMatchObject([{ outcome: 'succeeded' }]);
    expect(reads()).toEqual({ primary: before.primary + 1, replica: before.replica + 1 });
  });

  it('serves searches, summaries, the overview and exports once the index is replicated', async () => {
    const { url: DATABASE_URL, ownerUrl: DATABASE_OWNER_URL } = pair.database;
    const told = await runCli(
      ['database', 'replicate-search', '--json'],
      { DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR: tmpdir() },
      tmpdir(),
    );
    expect([told.code, told.stdout]).toEqual([0, '{"replicated":true}\n']);
    await readsFrom('replica');
    const before = { ...reads() };
    expect(await count()).toBe(orders);
    const { text } = await proxy.get(auditor, '/v1/audit/export?format=csv').expect(200);
    expect(text.trim().split('\n')).toHaveLength(orders + 1);
    expect(reads().primary).toBe(before.primary);
    expect(reads().replica).toBeGreaterThanOrEqual(before.replica + 3);
  });

  it('includes every payment from before the request', async () => {
    for (let time = 0; time < 20; time += 1)
      expect(await find(await pay())).toMatchObject([{ outcome: 'succeeded' }]);
    expect(await count()).toBe(orders);
  });

  it('is skipped while it does not replicate, and used again afterwards', async () => {
    await standby.query('SELECT pg_wal_replay_pause()');
    await readsFrom('primary');
    expect(await count()).toBe(orders);
    await proxy.get(auditor, '/readyz').expect(200);
    await standby.query('SELECT pg_wal_replay_resume()');
    await readsFrom('replica');
  });

  it('is skipped while it is frozen, even by a read in progress', async () => {
    const replica = proxy.app.get(ReplicaService);
    const places: string[] = [];
    const reading = replica.read(async (reader) => {
      const [row] = await reader.readLong<{ port: string }>({
        text: `SELECT current_setting('port') AS port`,
        values: [],
      });
      places.push(row?.port ?? '');
      if (places.length === 1) pair.freezeStandby();
      await reader.readLong({ text: 'SELECT', values: [] });
    });
    await reading;
    expect(places).toEqual([standby, pair.database].map(({ url }) => new URL(url).port));
    await readsFrom('primary');
    await proxy.get(auditor, '/readyz').expect(200);
    expect((await proxy.get('', '/metrics')).text).toMatch(/^payout_proxy_replica_lag_seconds nan$/im);
    pair.thawStandby();
    await readsFrom('replica');
    expect((await proxy.get('', '/metrics')).text).toMatch(/^payout_proxy_replica_lag_seconds \d/m);
  });

  it('is dropped for good once it follows another timeline', async () => {
    await pair.promote();
    await standby.query(
      `SELECT pg_switch_wal(); SELECT pg_logical_emit_message(false, 'ahead', repeat('x', 1000000))`,
    );
    await readsFrom('primary');
    const before = { ...reads() };
    for (let time = 0; time < 3; time += 1)
      expect(await find(await pay())).toMatchObject([{ outcome: 'succeeded' }]);
    expect(reads().replica).toBe(before.replica);
  });
});

it('uses the replica again after a failover', async () => {
  const [pair, upstream] = await Promise.all([PostgresPair.start(), FakeUpstream.start()]);
  upstream.behaviour = succeed;
  const both = (url: string) => {
    const { username, password, pathname } = new URL(url);
    const hosts = [pair.database, pair.replica].map((one) => new URL(one.url).host);
    return `postgresql://${username}:${password}@${hosts.join()}${pathname}`;
  };
  const [url, ownerUrl] = [both(pair.database.url), both(pair.database.ownerUrl)];
  const settings = { upstreamBaseUrl: upstream.url, databaseReplicaUrl: url };
  const proxy = await startProxy(settings, { ...pair.database, url, ownerUrl });
  const replica = proxy.app.get(ReplicaService);
  const read = async () => {
    const before = replica.reads.replica;
    await replica.read((reader) => reader.readLong({ text: 'SELECT', values: [] }));
    return replica.reads.replica > before;
  };
  await eventually(read);
  await pair.failOver();
  await pair.rejoin();
  await eventually(read);
  await proxy.close();
  await upstream.stop();
  await pair.close();
});

it('refuses a replica of another database', async () => {
  const [pair, upstream] = await Promise.all([PostgresPair.start(''), FakeUpstream.start()]);
  upstream.behaviour = succeed;
  const other = await PostgresPair.start('');
  const proxy = await startProxy(
    { upstreamBaseUrl: upstream.url, databaseReplicaUrl: other.replica.url },
    pair.database,
  );
  await other.database.query(`SELECT pg_logical_emit_message(false, 'ahead', repeat('x', 10000000))`);
  const { key } = await proxy.client('auditor', 'audit');
  await proxy.get(key, '/v1/audit/calls').expect(200);
  expect(proxy.app.get(ReplicaService).reads.replica).toBe(0);
  await proxy.close();
  await upstream.stop();
  await pair.close();
  await other.close();
});

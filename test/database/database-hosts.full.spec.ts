import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { FenceService } from '../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../src/continuity/heartbeat/heartbeat.service';
import { pendingMigrations, PROXY_MIGRATIONS } from '../../src/platform/database/migrations/migrations';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { isUnavailable } from '../../src/platform/database/pools/unavailable';
import { withConnection } from '../../src/platform/database/servers/database-client';
import { PostgresPair } from '../support/databases/postgres-pair';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { Gate } from '../support/payments/gate';
import { AIRTIME, eventually } from '../support/payments/paying';
import { runCli } from '../support/processes/cli';
import { removeDataDir } from '../support/processes/data-dir';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** An address that lists the servers in this order. */
function listing(url: string, hosts: string[], parameters = ''): string {
  const { username, password, pathname } = new URL(url);
  return `postgresql://${username}:${password}@${hosts.join(',')}${pathname}${parameters}`;
}

const hostOf = (url: string) => `127.0.0.1:${new URL(url).port}`;
const PORT = `SELECT current_setting('port') AS port`;
const portAt = (url: string) =>
  withConnection(url, async (client) => (await client.query<{ port: string }>(PORT)).rows[0]?.port);

describe('a URL with two database servers', () => {
  let pair: PostgresPair;
  let upstream: FakeUpstream;
  let gate: Gate;
  let hosts: string[];
  let port: string;
  const dataDir = join(tmpdir(), `payout-proxy-hosts-${process.pid}`);

  beforeAll(async () => {
    [pair, upstream] = await Promise.all([PostgresPair.start(), FakeUpstream.start()]);
    upstream.behaviour = succeed;
    gate = await Gate.start(() => pair.database.url);
    hosts = [hostOf(pair.replica.url), hostOf(pair.database.url)];
    port = new URL(pair.database.url).port;
  });
  afterAll(async () => {
    await gate?.stop();
    await upstream?.stop();
    await pair?.close();
    removeDataDir(dataDir);
  });

  const owner = (...listed: string[]) => listing(pair.database.ownerUrl, listed);

  it('connects to the writable server, in any position', async () => {
    for (const listed of [hosts, hosts.toReversed()])
      for (const parameters of ['', '?target_session_attrs=read-write', '?target_session_attrs=primary'])
        expect(await portAt(listing(pair.database.url, listed, parameters))).toBe(port);
    expect(await portAt(listing(pair.database.url, ['127.0.0.1', '127.0.0.1'], `?port=${port}`))).toBe(port);
  });

  it('reports why each server was rejected, without the password', async () => {
    const listed = [hosts[0] ?? '', '127.0.0.1:1', 'nowhere.invalid'];
    const failure = await portAt(owner(...listed)).catch((error: Error) => error.message);
    expect(failure).toContain(
      `no server takes writes: ${hosts[0]} is a standby, 127.0.0.1:1 (ECONNREFUSED), nowhere.invalid:5432 (`,
    );
    expect(failure).not.toContain(new URL(pair.database.ownerUrl).password);
    const one = await portAt(`${pair.replica.url}?target_session_attrs=read-write`).catch(
      (error: Error) => error.message,
    );
    expect(one).toContain(`${hosts[0]} is a standby`);
  });

  it('reports a wrong login if every server refuses it', async () => {
    const url = owner(...hosts).replace(/:[^:@]+@/, ':wrong@');
    const failure = await portAt(url).catch((error: Error) => error.message);
    expect(failure).toContain('refuses the login in its address (28P01)');
    expect(failure).toContain(hosts.join(', '));
  });

  it('connects without long delays past a frozen server', async () => {
    pair.freezeStandby();
    try {
      // The standby is synchronous, so nothing is written here.
      expect(await portAt(owner(...hosts))).toBe(port);
    } finally {
      pair.thawStandby();
    }
    gate.hold('answers');
    const failure = await portAt(owner(hostOf(gate.url), hosts[0] ?? '')).catch(
      (error: Error) => error.message,
    );
    gate.open();
    expect(failure).toContain(`${hostOf(gate.url)} is not answering, ${hosts[0]} is a standby`);
  });

  it('is used by the commands and the migrations', async () => {
    const urls = { DATABASE_URL: listing(pair.database.url, hosts), DATABASE_OWNER_URL: owner(...hosts) };
    expect(await pendingMigrations(urls.DATABASE_OWNER_URL, PROXY_MIGRATIONS)).toEqual([]);
    const status = await runCli(['database', 'status', '--json'], { ...urls, DATA_DIR: dataDir }, tmpdir());
    expect([status.code, status.stderr]).toEqual([0, '']);
    const backup = join(tmpdir(), `payout-proxy-hosts-${process.pid}-backup`);
    const taken = await runCli(
      ['database', 'backup', backup, '--json'],
      { ...urls, DATA_DIR: dataDir },
      tmpdir(),
    );
    removeDataDir(backup);
    expect([taken.code, JSON.parse(taken.stdout)]).toMatchObject([0, { folder: backup }]);
  });

  it('keeps the role of its connections, whatever its options', async () => {
    const { ownerUrl } = pair.database;
    const url = `${ownerUrl}?options=-c%20role%3D${new URL(ownerUrl).username}%20-c%20work_mem%3D5MB`;
    const proxy = await startProxy(
      { upstreamBaseUrl: upstream.url, dataDir },
      { ...pair.database, url, ownerUrl: url },
    );
    const shown = `SELECT current_user::text AS role, current_setting('work_mem') AS memory`;
    expect(await proxy.app.get(PrismaService).prepared('shown', shown, [])).toEqual([
      { role: 'payout_proxy', memory: '5MB' },
    ]);
    await proxy.close();
  });

  describe('after a failover', () => {
    let proxy: TestProxy;
    let key: string;
    const pay = (order: string) => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);

    beforeAll(async () => {
      const [url, ownerUrl] = [listing(pair.database.url, hosts), owner(...hosts)];
      proxy = await startProxy(
        { upstreamBaseUrl: upstream.url, dataDir },
        { ...pair.database, url, ownerUrl },
      );
      key = (await proxy.client('app', 'pay')).key;
    });
    afterAll(() => proxy?.close());

    it('sends payments to the new primary, and pays nothing twice', async () => {
      await pay('order-1').expect(200);
      const sent = upstream.received.length;
      await pair.killPrimary();
      const promoted = await pair.failOver();
      await eventually(async () => (await pay('order-2')).status === 200);
      await pay('order-1').expect(200).expect('Idempotent-Replayed', 'true');
      expect(upstream.received.length).toBe(sent + 1);
      expect(await promoted.query('SELECT FROM idempotency_claim')).toHaveLength(2);
      expect(proxy.app.get(FenceService).reasons).toEqual([]);
    });

    it('leaves a primary that turned read-only at the next heartbeat', async () => {
      await pair.rejoin();
      await eventually(async () => (await pay('order-3')).status === 200);
      const [standby, primary] = [pair.replica, pair.database];
      await primary.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await primary.query('SELECT pg_reload_conf()');
      const heartbeat = proxy.app.get(HeartbeatService);
      await eventually(async () => {
        await heartbeat.beat();
        return heartbeat.age > 1_000;
      });
      expect((await pay('order-4')).status).toBe(503);
      const beaten: number[] = [];
      heartbeat.observe(({ timeline }) => beaten.push(timeline));
      await pair.promote();
      await eventually(() => beaten.includes(3));
      await eventually(async () => (await pay('order-4')).status === 200);
      expect(await standby.query(`SELECT FROM idempotency_claim WHERE key = 'order-4'`)).toHaveLength(1);
    });

    it('reports that the database is unavailable while no server responds', async () => {
      await Promise.all([pair.killPrimary(), pair.killStandby()]);
      const prisma = proxy.app.get(PrismaService);
      let failure: unknown;
      await eventually(async () => {
        failure = await prisma.$queryRaw`SELECT 1`.then(
          () => undefined,
          (error: unknown) => error,
        );
        return String(failure).includes('no server takes writes');
      });
      expect(isUnavailable(failure)).toBe(true);
      const { body } = await pay('order-5').expect(503);
      expect(body.code).toBe('database_unavailable');
    });
  });
});

describe('a URL with two primaries', () => {
  let pair: PostgresPair;
  beforeAll(async () => (pair = await PostgresPair.start('')));
  afterAll(() => pair?.close());

  it('connects to the newer primary', async () => {
    const [old, newer] = [pair.database, pair.replica];
    await pair.promote();
    const client = new Client({ connectionString: newer.ownerUrl });
    await client.connect();
    await client.query('CHECKPOINT');
    await client.end();
    for (const urls of [
      [old, newer],
      [newer, old],
    ])
      expect(
        await portAt(
          listing(
            old.ownerUrl,
            urls.map(({ ownerUrl }) => hostOf(ownerUrl)),
          ),
        ),
      ).toBe(new URL(newer.url).port);
  });
});

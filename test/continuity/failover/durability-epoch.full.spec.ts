import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { OldPostgres, startOldPostgres } from '../../support/databases/old-postgres';
import { FakeUpstream, reset, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** A database that comes back from the past pays nothing twice. */
describe('a database restored to before a payment', () => {
  let postgres: OldPostgres;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let dataDir: string;
  const keys: Record<'app' | 'auditor' | 'admin', string> = { app: '', auditor: '', admin: '' };

  const start = (dir = dataDir) =>
    startProxy({ upstreamBaseUrl: upstream.url, dataDir: dir }, postgres.database);
  const restartProxy = async () => {
    await proxy.close();
    proxy = await start();
  };
  const pay = (order: string) =>
    proxy.post(keys.app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);
  const fenced = () => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
  const activeStops = async () => (await proxy.get(keys.admin, '/v1/stops').expect(200)).body.stops;
  const lift = (stopId = '', query = '') =>
    fetch(`${proxy.url}/v1/stops/${stopId}${query}`, {
      method: 'DELETE',
      headers: { 'X-API-Key': keys.admin },
    });
  const file = () =>
    JSON.parse(readFileSync(join(dataDir, 'epoch.json'), 'utf8')) as { beat: string; admitted: string[] };

  beforeAll(async () => {
    postgres = await startOldPostgres();
    upstream = await FakeUpstream.start();
  });
  afterAll(async () => {
    await upstream.stop();
    await postgres.close();
  });
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-epoch-'));
    upstream.received.length = 0;
    upstream.behaviour = succeed;
    proxy = await start();
    const suffix = dataDir.slice(-6).toLowerCase();
    const scopes = { app: 'pay', auditor: 'audit', admin: 'admin' } as const;
    for (const name of ['app', 'auditor', 'admin'] as const)
      keys[name] = (await proxy.client(`${name}-${suffix}`, scopes[name])).key;
    await postgres.database.query(`UPDATE client SET daily_cap_usd = 2.5 WHERE name = $1`, [`app-${suffix}`]);
    await postgres.backUp();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await proxy.close();
    rmSync(dataDir, { recursive: true, force: true });
    await postgres.database.query(
      'INSERT INTO stop_lift (stop_id) SELECT id FROM stop ON CONFLICT DO NOTHING',
    );
  });

  /** Pays, and waits for the next heartbeat. */
  async function payAndBeat(): Promise<void> {
    await eventually(async () => (await pay('order-1')).status === 200);
    const { beat } = file();
    await eventually(() => Number(file().beat) > Number(beat));
  }

  /** Expects that the same key, under a used-up cap, is not paid again. */
  async function expectStopped(): Promise<void> {
    expect(fenced()).toEqual(['database_behind']);
    const { body } = await pay('order-1').expect(503);
    expect(body.code).toBe('instance_fenced');
    expect(upstream.received).toHaveLength(1);
    const ready = await proxy.get('', '/readyz').expect(503);
    expect(JSON.stringify(ready.body)).toContain('The database is older than before');
    await proxy.get(keys.auditor, '/v1/audit/calls').expect(200);
  }

  it('stops the instance at every start', async () => {
    await payAndBeat();
    await proxy.close();
    const seen = file();
    await postgres.restore();
    proxy = await start();
    await expectStopped();
    await eventually(async () => (await activeStops()).length === 1);
    await restartProxy();
    await expectStopped();
    expect(file().beat).toBe(seen.beat); // the evidence stays
    expect(await activeStops()).toHaveLength(1); // one stop, not one for each start
  });

  it('stops a running instance when the server is replaced', async () => {
    await payAndBeat();
    await postgres.restore();
    await eventually(() => fenced().length > 0);
    await expectStopped();
  });

  it('stops an instance that lost its last second, before it sends anything', async () => {
    const heartbeat = proxy.app.get(HeartbeatService);
    jest.spyOn(heartbeat, 'beat').mockResolvedValue(); // no heartbeat comes after the payment
    await eventually(async () => (await pay('order-1')).status === 200);
    await postgres.restore();
    const { body } = await pay('order-1').expect(503);
    expect(body.code).toMatch(/^(instance_fenced|database_unavailable)$/);
    await eventually(async () => (await pay('order-1')).body.code === 'instance_fenced');
    expect(upstream.received).toHaveLength(1);
  });

  it('stops other instances through the database until the recovery and the lift by a person', async () => {
    await payAndBeat();
    await proxy.close();
    await postgres.restore();
    proxy = await start();
    await eventually(async () => (await activeStops()).length === 1);
    const [stop] = await activeStops();
    expect(stop).toMatchObject({ everything: true, cause: 'database_behind', stopped_by: null });
    const otherDir = mkdtempSync(join(tmpdir(), 'payout-proxy-epoch-'));
    const other = await start(otherDir);
    const payThere = () =>
      other.post(keys.app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-2');
    expect((await payThere().expect(503)).body.code).toBe('stopped');
    const refused = await lift(stop?.id);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'recovery_required' }]);
    await postgres.database.query(
      `INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`,
    );
    expect((await lift(stop?.id)).status).toBe(200);
    await payThere().expect(200);
    await eventually(() => fenced().length === 0);
    await eventually(async () => (await proxy.get('', '/readyz')).status === 200);
    await other.close();
    rmSync(otherDir, { recursive: true, force: true });
    await restartProxy();
    expect(fenced()).toEqual([]);
  });

  describe('after its recovery', () => {
    const recover = (...args: string[]) => {
      const { url, ownerUrl } = postgres.database;
      return runCli(
        ['database', 'recover', '--reason', 'restored the backup of the test', '--yes', '--json', ...args],
        { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, DATA_DIR: dataDir },
        dataDir,
      );
    };
    const expectRefused = async (folder: string, text: string) => {
      const { code, stderr } = await recover('--from', folder);
      expect([code, stderr]).toEqual([1, expect.stringContaining(text)]);
    };
    const SPENT = `SELECT sum(usd)::float8 AS usd FROM spending
      WHERE client_id = (SELECT client_id FROM intent ORDER BY id DESC LIMIT 1)`;

    it('replays the old key, counts its amount, and pays only what was not paid', async () => {
      await payAndBeat();
      upstream.behaviour = reset;
      await postgres.database.query('UPDATE client SET daily_cap_usd = 5');
      expect((await pay('order-2').expect(502)).body.code).toBe('outcome_unknown');
      await proxy.close();
      await postgres.restore();
      await postgres.database.query('UPDATE client SET daily_cap_usd = 5');
      proxy = await start();
      await eventually(async () => (await activeStops()).length === 1);
      await expectRefused(join(dataDir, 'missing'), 'There is no folder');
      await expectRefused(__dirname, 'is no DATA_DIR of a proxy');
      mkdirSync(join(dataDir, 'outcomes'), { recursive: true });
      writeFileSync(join(dataDir, 'outcomes', '01999999-0000-7000-8000-000000000000.json'), 'damaged');
      const { code, stdout } = await recover();
      expect(code).toBe(0);
      const [stop] = await activeStops();
      expect(JSON.parse(stdout)).toEqual({
        epoch: expect.any(Number) as number,
        calls: 2,
        outcomes: 2,
        approvals: 0,
        unreadable: 1,
        run_id: expect.any(String) as string,
        lost_from: expect.any(String) as string,
        lost_to: expect.any(String) as string,
        stop_id: stop?.id,
      });
      const again = { calls: 0, outcomes: 0, stop_id: stop?.id };
      expect(JSON.parse((await recover()).stdout)).toMatchObject(again); // it can be repeated
      expect((await pay('order-3').expect(503)).body.code).toMatch(/^(stopped|instance_fenced)$/);
      // The upstream of this test lists nothing, so the recovery gap cannot be read.
      expect((await lift(stop?.id, '?unreconciled=true')).status).toBe(200);
      await eventually(() => fenced().length === 0);
      upstream.behaviour = succeed;
      const replayed = await pay('order-1').expect(200);
      expect(replayed.headers['idempotent-replayed']).toBe('true');
      expect((await pay('order-2').expect(409)).body.code).toBe('outcome_unknown');
      expect((await pay('order-3').expect(403)).body.code).toBe('cap_exceeded');
      expect(upstream.received).toHaveLength(2);
      expect(await postgres.database.query(SPENT)).toEqual([{ usd: 5 }]);
      const { body } = await proxy.get(keys.auditor, '/v1/activity?action=database_recovered').expect(200);
      expect(body.activity[0]?.reason).toMatch(/^Epoch \d+: restored the backup of the test$/);
    });

    it('is recovered without evidence only if forced, and payments then wait for the list', async () => {
      const rescued = mkdtempSync(join(tmpdir(), 'payout-proxy-rescued-')); // has nothing else
      mkdirSync(join(rescued, 'outcomes'));
      await expectRefused(rescued, 'nothing to recover');
      rmSync(rescued, { recursive: true });
      const { stop_id: stopId } = JSON.parse((await recover('--force')).stdout) as { stop_id: string };
      expect(await activeStops()).toMatchObject([{ id: stopId, cause: 'database_behind' }]);
      await eventually(() => fenced().length === 0);
      expect((await pay('order-4').expect(503)).body.code).toBe('stopped');
      expect((await lift(stopId)).status).toBe(409); // The list was not read.
      expect((await lift(stopId, '?unreconciled=true')).status).toBe(200);
    });
  });

  it('is distinguished from a server that restarts, moves or was disconnected', async () => {
    await payAndBeat();
    await postgres.restart();
    await eventually(async () => (await proxy.get('', '/readyz')).status === 200);
    expect(fenced()).toEqual([]);
    await postgres.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()`,
    );
    await eventually(async () => (await proxy.get('', '/readyz')).status === 200);
    await restartProxy();
    expect(fenced()).toEqual([]);
    // The file is older than the database, as after a kill between a heartbeat and its file.
    await proxy.close();
    const { beat, ...seen } = file();
    writeFileSync(join(dataDir, 'epoch.json'), JSON.stringify({ ...seen, beat: String(Number(beat) - 1) }));
    proxy = await start();
    expect(fenced()).toEqual([]);
    const active = `SELECT id FROM stop
      WHERE cause IS NOT NULL AND id NOT IN (SELECT stop_id FROM stop_lift)`;
    expect(await postgres.database.query(active)).toEqual([]);
  });

  it('does not start with a damaged epoch file', async () => {
    await proxy.close();
    writeFileSync(join(dataDir, 'epoch.json'), '{');
    await expect(start()).rejects.toThrow(/epoch\.json is damaged/);
    rmSync(join(dataDir, 'epoch.json'));
    proxy = await start();
  });
});

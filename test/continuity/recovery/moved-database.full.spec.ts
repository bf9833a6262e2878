import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LastEpoch } from '../../../src/continuity/epoch/epoch-file';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { signHead } from '../../../src/history/log/head';
import { ringOf, newSigningKey, signerOf } from '../../../src/history/log/note';
import { RunningConfig } from '../../../src/platform/config/config';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { newId } from '../../../src/platform/database/ids';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** A dump restored elsewhere has another system identifier, and a point-in-time recovery another timeline. */
describe('a database on a different server', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  const [known, fresh] = ['known', 'fresh'].map((name) =>
    mkdtempSync(join(tmpdir(), `payout-proxy-${name}-`)),
  );
  const proxies: TestProxy[] = [];

  const start = async (dataDir = '', settings: Partial<RunningConfig> = {}) => {
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir, ...settings }, database);
    proxies.push(proxy);
    return proxy;
  };
  const reasons = (proxy: TestProxy) => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
  /** The database is moved from another server. */
  const move = async () => {
    for (const table of ['epoch', 'instance'])
      await database.query(`UPDATE ${table} SET server = '7000000000000000000/1' WHERE server IS NOT NULL`);
  };
  const server = async () =>
    (await database.query<{ server: string }>('SELECT server FROM epoch'))[0]?.server;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    await start(known);
    await eventually(() => existsSync(join(known ?? '', 'epoch.json')));
    await proxies.shift()?.close();
  });
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    for (const dir of [known, fresh]) rmSync(dir ?? '', { recursive: true, force: true });
  });

  it('gets no payment from an instance without evidence until another confirms it', async () => {
    const home = await server();
    await move();
    const proxy = await start(fresh);
    expect(reasons(proxy)).toEqual(['database_unconfirmed']);
    const { key } = await proxy.client('app', 'pay');
    const { body } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(503);
    expect(body.code).toBe('instance_fenced');
    const ready = await proxy.get('', '/readyz').expect(503);
    expect(JSON.stringify(ready.body)).toContain('or run database recover');
    await proxy.app.get(HeartbeatService).beat();
    expect(reasons(proxy)).toEqual(['database_unconfirmed']);
    expect(existsSync(join(fresh ?? '', 'epoch.json'))).toBe(false); // what it has seen there is no evidence
    expect(await database.query('SELECT id FROM stop')).toEqual([]); // it knows of nothing that is missing

    await start(known);
    await eventually(async () => (await server()) === home);
    expect(await database.query('SELECT number FROM epoch WHERE moved_at IS NULL')).toEqual([]);
    await eventually(() => reasons(proxy).length === 0);
    await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200);
  });

  it('can be recovered without evidence, and payments wait until an operator has read the list', async () => {
    await move();
    const dataDir = mkdtempSync(join(fresh ?? '', 'alone-'));
    const proxy = await start(dataDir);
    expect(reasons(proxy)).toEqual(['database_unconfirmed']);
    const { key } = await proxy.client('shop', 'pay');
    const { url: DATABASE_URL, ownerUrl: DATABASE_OWNER_URL } = database;
    const args = ['database', 'recover', '--reason', 'a dump alone', '--yes', '--json'];
    const { code, stdout } = await runCli(
      args,
      { DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR: dataDir },
      dataDir,
    );
    expect(code).toBe(0);
    const { stop_id: stopId } = JSON.parse(stdout) as { stop_id: string };
    await eventually(() => reasons(proxy).length === 0);
    const { body } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(503);
    expect(body.code).toBe('stopped');
    await database.query('INSERT INTO stop_lift (stop_id, unreconciled) VALUES ($1, TRUE)', [stopId]);
    await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200);
  });

  /** Those of earlier cases. */
  const stoppedLongAgo = () => database.query(`UPDATE instance SET beat_at = beat_at - interval '1 hour'`);

  it('is confirmed by two instances that both continue on it', async () => {
    const home = await server();
    await stoppedLongAgo();
    const both = [await start(known), await start(mkdtempSync(join(fresh ?? '', 'second-')))];
    await Promise.all(both.map((proxy) => proxy.app.get(HeartbeatService).beat()));
    await move();
    await eventually(async () => (await server()) === home);
    await eventually(() => both.every((proxy) => reasons(proxy).length === 0));
  });

  it('is not confirmed while another instance that used the old server to the end is missing', async () => {
    await stoppedLongAgo();
    const missing = await start(mkdtempSync(join(fresh ?? '', 'missing-')));
    await missing.app.get(HeartbeatService).beat();
    const proxy = await start(known);
    await proxy.app.get(HeartbeatService).beat();
    await proxies.shift()?.close();
    await move();
    await eventually(() => reasons(proxy).length > 0);
    for (let beats = 0; beats < 3; beats += 1) await proxy.app.get(HeartbeatService).beat();
    expect(reasons(proxy)).toEqual(['database_unconfirmed']);
    await database.query(
      `UPDATE instance SET beat_at = beat_at - interval '1 minute' WHERE server LIKE '7000%'`,
    );
    await eventually(() => reasons(proxy).length === 0); // it had stopped long before
  });

  it('is detected by a larger checkpoint, even by a fresh instance', async () => {
    const newest = mkdtempSync(join(fresh ?? '', 'newest-'));
    const [logSigningKey, checkpointFile] = [new Secret(newSigningKey('test')), join(newest, 'checkpoints')];
    const head = {
      size: 1_000,
      root: Buffer.alloc(32),
      sealedAt: new Date().toISOString(),
      completeUntil: null,
    };
    writeFileSync(checkpointFile, `${signHead(head, ringOf([signerOf(logSigningKey.reveal())]))}\n`);
    const proxy = await start(newest, { logSigningKey, checkpointFile });
    const [fence] = proxy.app.get(FenceService).reasons;
    expect(fence?.detail).toContain('it has 0 sealed leaves, and the newest checkpoint');
    const activeStops = () =>
      database.query('SELECT cause FROM stop WHERE id NOT IN (SELECT stop_id FROM stop_lift)');
    await eventually(async () => (await activeStops()).length === 1);
    expect(await activeStops()).toEqual([{ cause: 'database_behind' }]);
    await database.query(`INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`);
    await eventually(() => reasons(proxy).length === 0);
    await proxies.pop()?.close();
    const again = await start(newest, { logSigningKey, checkpointFile });
    expect(reasons(again)).toEqual([]); // the checkpoint is of the epoch before
  });

  it('is detected on the first connection, before any heartbeat', async () => {
    await move();
    const beat = jest.spyOn(HeartbeatService.prototype, 'beat').mockResolvedValue();
    const proxy = await start(mkdtempSync(join(fresh ?? '', 'newer-')));
    expect(beat).toHaveBeenCalled();
    expect(reasons(proxy)).toContain('database_unconfirmed');
    beat.mockRestore();
  });

  it('is not confirmed by a new instance that misses commits but no heartbeat', async () => {
    await database.query('UPDATE epoch SET server = database_server()');
    await stoppedLongAgo();
    const lacking = mkdtempSync(join(fresh ?? '', 'lacking-'));
    const worked = await start(lacking);
    const proxy = await start(known);
    for (const each of [worked, proxy]) await each.app.get(HeartbeatService).beat();
    await proxies.shift()?.close();
    const file = join(lacking, 'epoch.json');
    const seen = JSON.parse(readFileSync(file, 'utf8')) as LastEpoch;
    writeFileSync(file, JSON.stringify({ ...seen, admitted: [newId()] }));
    await move();
    await eventually(() => reasons(proxy).length > 0);
    const behind = await start(lacking);
    expect(reasons(behind)).toContain('database_behind');
    for (const each of [behind, proxy, behind, proxy]) await each.app.get(HeartbeatService).beat();
    expect(reasons(proxy)).toEqual(['database_unconfirmed']);
    expect(await server()).toMatch(/^7000/);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientBase, Pool } from 'pg';
import { LastEpoch } from '../../../src/continuity/epoch/epoch-file';
import { EpochService } from '../../../src/continuity/fence/epoch.service';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { RunningConfig } from '../../../src/platform/config/config';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { copyIntent } from '../../support/records/intents';

/** Evidence of an instance for an old database. Tests remove rows to simulate one. */
describe('the evidence against an old database', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let dataDir: string;
  let [app, admin, approver] = ['', '', ''];

  const launch = async (settings: Partial<RunningConfig> = {}) => {
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir, ...settings }, database);
  };
  /** Starts a proxy, and waits for its file. */
  const start = async () => {
    await launch();
    await eventually(() => existsSync(join(dataDir, 'epoch.json')));
  };
  const pay = () => proxy.post(app, '/payouts/airtime', AIRTIME);
  const file = () => JSON.parse(readFileSync(join(dataDir, 'epoch.json'), 'utf8')) as LastEpoch;
  const writeFile = (changes: Partial<LastEpoch>) =>
    writeFileSync(join(dataDir, 'epoch.json'), JSON.stringify({ ...file(), ...changes }));
  const fences = () => proxy.app.get(FenceService).reasons;
  const details = () => fences().map(({ detail }) => detail);
  const heartbeat = () => proxy.app.get(HeartbeatService);
  /** Prevents heartbeats after the next commits. */
  const holdBeats = async () => {
    await heartbeat().beat();
    jest.spyOn(heartbeat(), 'beat').mockResolvedValue();
  };
  const lose = async (table: string, key: string, id: string) => {
    await database.query('SET session_replication_role = replica');
    const lost = await database.query(`DELETE FROM ${table} WHERE ${key} = $1 RETURNING 1`, [id]);
    await database.query('RESET session_replication_role');
    expect(lost).toHaveLength(1);
  };
  const endConnections = (of = '%') =>
    database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE $1`,
      [of],
    );
  /** Ends all connections, and opens one. */
  const reconnect = async () => {
    await endConnections();
    await eventually(async () => (await proxy.get(admin, '/v1/stops')).status === 200);
  };
  const nextEpoch = () =>
    database.query(`INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`);

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-epoch-'));
    await start();
    [app, admin, approver] = await Promise.all([
      proxy.client('app', 'pay').then(({ key }) => key),
      proxy.client('admin', 'admin').then(({ key }) => key),
      proxy.client('approver', 'approve', 'audit').then(({ key }) => key),
    ]);
    await proxy.close();
    rmSync(dataDir, { recursive: true });
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
  });
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-epoch-'));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await proxy.close();
    rmSync(dataDir, { recursive: true, force: true });
    await database.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop ON CONFLICT DO NOTHING');
  });

  /** Ends only the connection of the heartbeat, and waits for a beat on a new one. */
  const beatOnNewConnection = async () => {
    await endConnections('%heartbeat');
    jest.restoreAllMocks();
    await eventually(() =>
      heartbeat()
        .beat()
        .then(() => fences().length > 0),
    );
  };

  it.each([
    ['admission', 'intent', 'id', 'admitted', reconnect],
    ['outcome', 'outcome', 'intent_id', 'answered', reconnect],
    ['admission, if the heartbeat connects first', 'intent', 'id', 'admitted', beatOnNewConnection],
  ] as const)('includes the last %s, and survives a restart', async (_name, table, key, member, comeBack) => {
    await start();
    await holdBeats();
    const id = (await pay().expect(200)).headers['x-call-id'] ?? '';
    await lose(table, key, id);
    await comeBack();
    expect(details()).toEqual([expect.stringContaining('it lacks 1 of the last commits')]);
    await eventually(() => file()[member].includes(id));
    await proxy.close();
    await start();
    expect(details()).toEqual([expect.stringContaining('it lacks 1 of the last commits')]);
  });

  it('includes the last approval, which could be given again', async () => {
    await start();
    const model = (await pay().expect(200)).headers['x-call-id'] ?? '';
    const held = await copyIntent(database, model, {
      held_for: 'over_threshold',
      expires_at: '2099-01-01T00:00:00Z',
      reserved_on: null,
      idempotency_key_commitment: null,
    });
    await holdBeats();
    const approve = supertest(proxy.url).post(`/v1/approvals/${held}/approve`).set('X-API-Key', approver);
    await approve.send({ reason: 'agreed' }).expect(200);
    await lose('decision', 'intent_id', held);
    await reconnect();
    expect(details()).toEqual([expect.stringContaining('it lacks 1 of the last commits')]);
    await eventually(() => file().approved.includes(held));
  });

  it('includes the last commit before a shutdown, without a heartbeat', async () => {
    await start();
    await holdBeats();
    const id = (await pay().expect(200)).headers['x-call-id'] ?? '';
    await proxy.close();
    expect([file().admitted, file().answered]).toEqual([[id], [id]]);
    await start();
    expect(fences()).toEqual([]);
  });

  it('excludes calls whose month was pruned in the meantime', async () => {
    await start();
    await proxy.close();
    writeFile({ admitted: ['019b7a3c-1000-7000-8000-000000000000'] }); // January 2026.
    await start();
    expect(fences()).toHaveLength(1);
    await proxy.close();
    await database.query(
      `INSERT INTO pruning (id, what, month, reason, kept, rows, leaves, checkpoint, pruned_at, signature)
       VALUES (gen_random_uuid(), 'calls', '2026-01', 'its age', '{}', 1, 1, '', now(), '')`,
    );
    await start();
    expect(fences()).toEqual([]);
  });

  it('excludes a heartbeat confirmed during a comparison', async () => {
    await start();
    const epoch = proxy.app.get(EpochService);
    const pool = new Pool({ connectionString: database.ownerUrl });
    const query = async (sql: string, values: unknown[]) => {
      const found = await pool.query(sql, values);
      const { beat } = file();
      await heartbeat().beat();
      await eventually(() => file().beat !== beat);
      return found;
    };
    await epoch['check']({ query } as unknown as ClientBase);
    await pool.end();
    expect(fences()).toEqual([]);
  });

  it('detects missing heartbeats, even on a persistent connection', async () => {
    await start();
    for (let beats = 0; beats < 3; beats += 1) await heartbeat().beat();
    await database.query('UPDATE instance SET beat = beat - 2 WHERE beat > 2');
    await heartbeat().beat();
    expect(details()).toEqual([expect.stringContaining('it lacks the last heartbeat')]);
  });

  it('detects a smaller epoch, as when an abandoned server returns', async () => {
    await start();
    await nextEpoch();
    await eventually(() => file().epoch > 1);
    await database.query('DELETE FROM epoch WHERE number > 1');
    await eventually(() => fences().length > 0);
    expect(details()).toEqual([expect.stringMatching(/it is in epoch 1, and this instance has seen 2/)]);
    await proxy.close();
    await start();
    expect(details()).toEqual([expect.stringMatching(/it is in epoch 1, and this instance has seen 2/)]);
  });

  it('stops no newer database that connects afterwards', async () => {
    await start();
    await nextEpoch();
    await eventually(() => file().epoch > 1);
    await holdBeats();
    await database.query('DELETE FROM epoch WHERE number > 1');
    await reconnect();
    expect(fences()).toHaveLength(1);
    await nextEpoch(); // The newer database returns.
    jest.restoreAllMocks();
    const [epoch, stop] = [proxy.app.get(EpochService), jest.fn()];
    epoch.whileBehind(stop);
    await heartbeat().beat();
    await epoch['telling'];
    expect(stop).not.toHaveBeenCalled();
    expect(fences()).toHaveLength(1); // Some connections could lead to the older one.
    await proxy.close();
    await start();
    expect(fences()).toEqual([]);
    await database.query('DELETE FROM epoch WHERE number > 1');
  });

  it('is not written while the disk refuses it, and payments continue', async () => {
    const partial = join(dataDir, 'epoch.json.partial');
    mkdirSync(join(partial, 'in-the-way'), { recursive: true });
    await launch();
    const metric = async () =>
      /^payout_proxy_epoch_file_failing (\d)/m.exec((await proxy.get('', '/metrics')).text)?.[1];
    await eventually(async () => (await metric()) === '1');
    await pay().expect(200);
    rmSync(partial, { recursive: true });
    await eventually(async () => (await metric()) === '0');
  });

  it('is written by the proxy, not by its worker', async () => {
    await start();
    await eventually(() => file().beat !== '1');
    const { instance } = file();
    const before = await database.query('SELECT id FROM instance');
    const worker = await proxy.startWorker();
    await eventually(() => worker.get(HeartbeatService).age < 1_000);
    expect(await database.query('SELECT id FROM instance')).toHaveLength(before.length + 1);
    const { beat } = file();
    await eventually(() => file().beat !== beat);
    expect(file().instance).toBe(instance);
    expect(fences()).toEqual([]);
  });
});

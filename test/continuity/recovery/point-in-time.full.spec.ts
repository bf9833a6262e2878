import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { logKeyOf } from '../../../src/history/log/log-key';
import { ArchivedPostgres, startArchivedPostgres } from '../../support/databases/archived-postgres';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { envOf, newDataDir } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const UNSEALED = `SELECT FROM intent WHERE NOT EXISTS (SELECT FROM audit.leaves WHERE record_id = intent.id)`;

/** The steps of docs/operate/recovery.md after a point-in-time recovery. */
describe('a point-in-time recovery', () => {
  let postgres: ArchivedPostgres;
  let upstream: FakeUpstream;
  const dir = newDataDir();
  const folder = (name: string) => join(dir, name);
  const [known, idle, fresh, after, backup] = [
    folder('known'),
    folder('idle'),
    folder('fresh'),
    folder('after'),
    folder('backup'),
  ];
  const proxies: TestProxy[] = [];
  const keys = { app: '', admin: '', auditor: '' };
  const callIds: Record<string, string> = {};

  const start = async (dataDir: string) => {
    const proxy = await startProxy(
      {
        upstreamBaseUrl: upstream.url,
        dataDir,
        checkpointFile: join(dataDir, 'checkpoints'),
        logSigningKey: logKeyOf({ dataDir, logSigningKey: undefined }),
      },
      postgres.database,
    );
    proxies.push(proxy);
    return proxy;
  };
  const closeAll = async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
  };
  const pay = async (proxy: TestProxy, order: string) => {
    const response = await proxy.post(keys.app, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);
    if (response.status === 200) callIds[order] ??= response.headers['x-call-id'] ?? '';
    return response;
  };
  const expectNoPayment = async (proxy: TestProxy) => {
    for (const order of ['before', 'kept', 'lost', 'new']) {
      const { status, body } = await pay(proxy, order);
      expect([order, status, body.code]).toEqual([order, 503, 'instance_fenced']);
    }
    expect(upstream.received.filter(({ method }) => method === 'POST')).toHaveLength(3); // a run only reads
  };
  const fences = (proxy: TestProxy) => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
  const stops = async (proxy: TestProxy) => (await proxy.get(keys.admin, '/v1/stops').expect(200)).body.stops;
  const cli = (
    args: string[],
    dataDir: string,
    urls: { url: string; ownerUrl: string } = postgres.database,
  ) => runCli([...args, '--json'], { ...envOf(urls), DATA_DIR: dataDir }, dir);
  const succeedWith = async (args: string[], dataDir: string) => {
    const { code, stdout, stderr } = await cli(args, dataDir);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const beats = () =>
    Number((JSON.parse(readFileSync(join(known, 'epoch.json'), 'utf8')) as { beat: string }).beat);
  const recover = () =>
    succeedWith(['database', 'recover', '--from', known, '--reason', 'back to the point', '--yes'], after);

  beforeAll(async () => {
    postgres = await startArchivedPostgres();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    const proxy = await start(known);
    keys.app = (await proxy.client('app', 'pay')).key;
    keys.admin = (await proxy.client('admin', 'admin')).key;
    keys.auditor = (await proxy.client('auditor', 'audit')).key;
    await postgres.database.query(`UPDATE client SET daily_cap_usd = 7.5 WHERE name = 'app'`);
    await proxy.startWorker();

    expect((await pay(proxy, 'before')).status).toBe(200);
    await eventually(() => existsSync(join(known, 'checkpoints')));
    await postgres.backUpFiles();
    await succeedWith(['database', 'backup', backup, '--without-tables'], known);
    expect((await pay(proxy, 'kept')).status).toBe(200);
    await start(idle);
    await proxies.pop()?.close();
    const before = beats();
    await eventually(() => beats() > before + 1);
    await postgres.markPoint('the point');
    expect((await pay(proxy, 'lost')).status).toBe(200);
    await closeAll();
    await postgres.recoverTo('the point');
  });
  afterAll(async () => {
    await closeAll();
    await upstream.stop();
    await postgres.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is detected by instances with and without DATA_DIR, before any command runs', async () => {
    const proxy = await start(fresh);
    expect(fences(proxy)).toEqual(['database_unconfirmed']);
    await expectNoPayment(proxy);
    expect(await stops(proxy)).toEqual([]); // it does not know whether anything is missing

    const outdated = await start(idle);
    // it misses nothing that it has seen, but others worked on
    expect(fences(outdated)).toEqual(['database_unconfirmed']);
    await expectNoPayment(outdated);
    await eventually(() => outdated.app.get(HeartbeatService).age < 1_000);
    expect(fences(proxy)).toEqual(['database_unconfirmed']);

    const informed = await start(known);
    expect(fences(informed)).toEqual(['database_behind']);
    await expectNoPayment(informed);
    await eventually(async () => (await stops(informed)).length === 1);
    expect((await stops(proxy))[0]).toMatchObject({ everything: true, cause: 'database_behind' });
    expect(fences(proxy)).toEqual(['database_unconfirmed']);
    await closeAll();
  });

  it('requires the tables first', async () => {
    await postgres.database.query('CREATE DATABASE empty');
    const empty = (url: string) => Object.assign(new URL(url), { pathname: '/empty' }).toString();
    const { ownerUrl } = postgres.database;
    const urls = { url: empty(ownerUrl), ownerUrl: empty(ownerUrl) };
    const refusal = /^The database has no records, and the backup has no tables\. First restore the database/;
    const refused = await cli(['database', 'restore', backup, '--yes'], after, urls);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(refusal)]);
    expect((await cli(['database', 'migrate'], after, urls)).code).toBe(0);
    const again = await cli(['database', 'restore', backup, '--yes'], after, urls);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(refusal)]);
    expect(existsSync(after)).toBe(false);
  });

  it('takes rights, the key and checkpoints from a backup without tables, and stays stopped', async () => {
    const [stop] = await postgres.database.query<{ id: string }>('SELECT id FROM stop');
    await postgres.database.query(
      'REVOKE INSERT ON intent FROM payout_proxy; REVOKE payout_proxy FROM payout_proxy_login',
    );
    expect((await cli(['database', 'status'], after)).stderr).toMatch(
      /lacks the membership of payout_proxy_login in payout_proxy, 1 right of payout_proxy/,
    );
    const restored = await succeedWith(['database', 'restore', backup, '--yes'], after);
    expect(restored).toMatchObject({ tables: 0, epoch: 1, stop_id: stop?.id, logins_missing: [] });
    await succeedWith(['database', 'status'], after);
    for (const name of ['log-key.json', 'checkpoints'])
      expect(readFileSync(join(after, name))).toEqual(readFileSync(join(backup, name)));
  });

  it('pays nothing twice after the recovery and the lift of the stop', async () => {
    const proxy = await start(after);
    await expectNoPayment(proxy);
    const [stop] = await stops(proxy);
    const early = await cli(['stop', 'lift', stop?.id ?? ''], after);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('Run database recover first.')]);
    const recovered = await recover();
    expect(recovered).toMatchObject({ epoch: 2, calls: 1, outcomes: 1, unreadable: 0 });
    // The upstream of this test lists nothing, so nobody can read the recovery gap.
    await succeedWith(['stop', 'lift', String(recovered.stop_id), '--unreconciled'], after);
    await eventually(() => fences(proxy).length === 0);
    await expectAsBefore(proxy);
  });

  /** Every key is replayed, and the cap is full. */
  async function expectAsBefore(proxy: TestProxy): Promise<void> {
    for (const order of ['before', 'kept', 'lost']) {
      const { status, headers } = await pay(proxy, order);
      expect([status, headers['idempotent-replayed'], headers['x-call-id']]).toEqual([
        200,
        'true',
        callIds[order],
      ]);
    }
    expect((await pay(proxy, 'new')).body).toMatchObject({ code: 'cap_exceeded' });
    expect(upstream.received.filter(({ method }) => method === 'POST')).toHaveLength(3); // a run only reads
  }

  it('is searchable and verifiable like the lost database', async () => {
    const [proxy] = proxies as [TestProxy];
    const found = (order: string) => proxy.get(keys.auditor, `/v1/audit/calls?idempotency_key=${order}`);
    expect((await found('before')).status).toBe(503); // the index is not in the write-ahead log
    await proxy.startWorker();
    await eventually(async () => (await found('before')).status === 200);
    for (const order of ['before', 'kept', 'lost'])
      expect((await found(order)).body.calls?.map(({ id }) => id)).toContain(callIds[order]);
    await eventually(async () => (await postgres.database.query(UNSEALED)).length === 0);
    expect(await succeedWith(['audit', 'verify'], after)).toMatchObject({ fault: null, ok: true });
    expect((await proxy.get('', '/readyz')).status).toBe(200);
  });

  it('is repeatable', async () => {
    await closeAll();
    await start(known); // learns of the epoch that is lost next
    await eventually(() => readFileSync(join(known, 'epoch.json'), 'utf8').includes('"epoch": 2'));
    await closeAll();
    await postgres.recoverTo('the point');
    const { stop_id: stopId } = await succeedWith(['database', 'restore', backup, '--yes'], after);
    const proxy = await start(known);
    expect(fences(proxy)).toContain('database_behind');
    expect(await stops(proxy)).toMatchObject([
      { id: stopId, reason: expect.stringMatching(/^The database was restored/) as string },
    ]);
    expect(await recover()).toMatchObject({ epoch: 3, calls: 1, outcomes: 1, stop_id: stopId });
    await succeedWith(['stop', 'lift', String(stopId), '--unreconciled'], after);
    await eventually(() => fences(proxy).length === 0);
    await expectAsBefore(proxy);
    await proxy.startWorker();
    await eventually(async () => (await postgres.database.query(UNSEALED)).length === 0);
    expect(await succeedWith(['audit', 'verify'], known)).toMatchObject({ fault: null, ok: true });
  });

  it('with a dump on another server indexes all records again', async () => {
    await closeAll();
    const { database } = postgres;
    const done = async () =>
      (await database.query<{ done: string }>('SELECT done::text FROM search_position'))[0]?.done;
    await database.query(`UPDATE search_position SET done = '999999999:999999999:'`);
    await succeedWith(['database', 'restore', backup, '--yes'], known);
    expect(await done()).toBe('999999999:999999999:'); // the same server
    await database.query(`UPDATE epoch SET server = '7000000000000000000/1'`);
    await succeedWith(['database', 'restore', backup, '--yes'], known);
    expect(await done()).toBe('3:3:');
  });
});

import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Manifest } from '../../../src/continuity/backup/manifest';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { newSigningKey } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import {
  startEmbeddedPostgres,
  EmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres';
import { withConnection } from '../../../src/platform/database/servers/database-client';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { removeDataDir } from '../../support/processes/data-dir';
import { newDataDir } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { ended } from '../../support/reconciliation/reconciliation-scene';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** The steps of docs/operate/recovery.md after the loss of a database, in their order. */
describe('a restored backup', () => {
  const signingKey = newSigningKey('drill');
  let source: TestDatabase;
  let sandbox: TestSandbox;
  let proxy: TestProxy;
  let server: EmbeddedPostgres | undefined;
  const dir = newDataDir();
  const [before, after, backup] = ['before', 'after', 'backup'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  let [app, admin, auditor, reconciler] = ['', '', '', ''];
  const callIds: Record<string, string> = {};

  const settings = (dataDir: string) => ({
    upstreamBaseUrl: sandbox.url,
    upstreamApiKey: new Secret(API_KEY),
    upstreamTimeoutMs: 1_000,
    resolverQuietSeconds: 0,
    logSigningKey: new Secret(signingKey),
    checkpointFile: join(dataDir, 'checkpoints'),
    dataDir,
  });
  const pay = async (order: string) => {
    const response = await proxy.post(app, '/payouts/airtime', airtime(1)).set('Idempotency-Key', order);
    callIds[order] ??= response.headers['x-call-id'] ?? '';
    return response;
  };
  const cli = (args: string[], env: Record<string, string>) => runCli([...args, '--json'], env, dir);
  const atSource = () => ({
    DATABASE_URL: source.url,
    DATABASE_OWNER_URL: source.ownerUrl,
    DATA_DIR: before,
    LOG_SIGNING_KEY: signingKey,
  });
  const atTarget = { DATA_DIR: after };
  const arrivals = async () => (await sandbox.requests('POST /payouts/airtime')).length;
  const fences = () => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
  const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, unknown>;
  const manifest = () => JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')) as Manifest;

  beforeAll(async () => {
    source = await createTestDatabase();
    sandbox = await startSandbox({}, source);
    proxy = await startProxy(settings(before), source);
    [app, admin, auditor, reconciler] = await Promise.all([
      proxy.client('app', 'pay').then(({ key }) => key),
      proxy.client('admin', 'admin').then(({ key }) => key),
      proxy.client('auditor', 'audit').then(({ key }) => key),
      proxy.client('reconciler', 'reconcile').then(({ key }) => key),
    ]);
    await source.query(`UPDATE client SET daily_cap_usd = 4 WHERE name = 'app'`);
  });
  afterAll(async () => {
    await proxy.close();
    await server?.stop();
    await sandbox.close();
    await source.close();
    removeDataDir(after);
    rmSync(dir, { recursive: true, force: true });
  });

  it('is taken online with all tables but derived ones, the key and the checkpoints', async () => {
    expect((await pay('before')).status).toBe(200);
    await proxy.startWorker();
    await eventually(() => existsSync(join(before, 'checkpoints')));
    const sealed = async () =>
      (await source.query<{ size: number }>('SELECT max(size)::integer AS size FROM checkpoint'))[0]?.size;
    await eventually(async () => Number(await sealed()) > 2);
    const [taken] = await Promise.all([cli(['database', 'backup', backup], atSource()), pay('during')]);
    expect([taken.code, taken.stderr]).toEqual([0, '']);
    expect(json(taken)).toMatchObject({ folder: backup, epoch: 1, files: ['log-key.json', 'checkpoints'] });
    const { tables, files } = manifest();
    expect(tables.find(({ name }) => name === 'client')).toMatchObject({ rows: 4 });
    expect(tables.map(({ name }) => name)).not.toContain('console_session');
    expect(files.map(({ name }) => name)).toEqual(['log-key.json', 'checkpoints']);
    const modes = ['backup.json', ...files.map(({ name }) => name), 'tables/intent.copy.gz'].map((name) =>
      (statSync(join(backup, name)).mode & 0o777).toString(8),
    );
    expect(new Set(modes)).toEqual(new Set(['600']));
    const again = await cli(['database', 'backup', backup], atSource());
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    const nowhere = await cli(['database', 'backup', join(backup, 'backup.json', 'folder')], atSource());
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('cannot be written (ENOTDIR)'),
    ]);
  });

  it('is refused if damaged, and leaves nothing', async () => {
    const file = join(backup, 'tables', 'intent.copy.gz');
    const [bytes, document] = [readFileSync(file), readFileSync(join(backup, 'backup.json'))];
    const refused = async () => {
      const { code, stderr } = await cli(['database', 'restore', backup, '--yes'], atTarget);
      expect(code).toBe(1);
      return stderr;
    };
    writeFileSync(file, gzipSync(String(gunzipSync(bytes)).replace('before', 'BEFORE')));
    expect(await refused()).toMatch(
      /intent\.copy\.gz cannot be restored \(its SHA-256 differs\)\. Nothing was restored/,
    );
    writeFileSync(file, bytes.subarray(0, bytes.length - 20));
    expect(await refused()).toMatch(/cannot be restored \(Z_BUF_ERROR\)/);
    writeFileSync(file, bytes);
    const unknown = [{ name: '20990101000000_newer', checksum: '' }];
    writeFileSync(join(backup, 'backup.json'), JSON.stringify({ ...manifest(), migrations: unknown }));
    expect(await refused()).toMatch(/^This program cannot restore the backup\. In it, the database is newer/);
    writeFileSync(join(backup, 'backup.json'), JSON.stringify({ ...manifest(), format: 2 }));
    expect(await refused()).toMatch(/damaged, or a newer program wrote it/);
    writeFileSync(join(backup, 'backup.json'), document);
    appendFileSync(join(backup, 'checkpoints'), '\n');
    expect(await refused()).toMatch(/checkpoints is missing or was changed/);
    writeFileSync(join(backup, 'checkpoints'), readFileSync(join(backup, 'checkpoints')).subarray(0, -1));
    const stderr = (await cli(['database', 'restore', dir, '--yes'], atTarget)).stderr;
    expect(stderr).toMatch(/is not a complete backup/);
    const otherKey = { ...atTarget, LOG_SIGNING_KEY: newSigningKey('other') };
    expect((await cli(['database', 'restore', backup, '--yes'], otherKey)).stderr).toMatch(
      /with another key than/,
    );
  });

  it('is restored to a new server, which pays nothing before the recovery', async () => {
    expect((await pay('lost')).status).toBe(200);
    await sandbox.fault({ fault: 'noResponse', operation: 'POST /payouts/airtime', nth: 1, processed: true });
    expect((await pay('in-doubt')).status).toBe(504);
    await proxy.close();
    expect(await arrivals()).toBe(4);

    const restored = await cli(['database', 'restore', backup, '--yes'], atTarget);
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    expect(json(restored)).toMatchObject({ epoch: 1, logins_missing: [] });
    const again = await cli(['database', 'restore', backup, '--yes'], atTarget);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('The database is not empty')]);
    expect(readFileSync(join(after, 'log-key.json'), 'utf8')).toContain(signingKey);

    server = await startEmbeddedPostgres(after);
    const { proxy: url, owner: ownerUrl, sandbox: sandboxUrl } = server.urls;
    proxy = await startProxy(settings(after), { ...source, url, ownerUrl, sandboxUrl });
    await proxy.startWorker();
    expect(fences()).toEqual(['database_unconfirmed']);
    for (const order of ['lost', 'in-doubt', 'new']) expect((await pay(order)).status).toBe(503);
    const { body } = await proxy.get(admin, '/v1/stops').expect(200);
    expect(body.stops).toMatchObject([
      { everything: true, cause: 'database_behind', id: json(restored).stop_id },
    ]);
    expect(body.stops[0]?.reason).toMatch(/^The database was restored from a backup of 2\S+Z\./);
    expect(await arrivals()).toBe(4);
  });

  it('pays nothing twice after the recovery and the lift of the stop', async () => {
    const [stop] = (await proxy.get(admin, '/v1/stops').expect(200)).body.stops;
    const lift = () =>
      fetch(`${proxy.url}/v1/stops/${stop?.id}`, { method: 'DELETE', headers: { 'X-API-Key': admin } });
    expect((await lift()).status).toBe(409);
    const recovered = await cli(
      ['database', 'recover', '--from', before, after, '--reason', 'a drill', '--yes'],
      atTarget,
    );
    expect([recovered.code, recovered.stderr]).toEqual([0, '']);
    expect(json(recovered)).toMatchObject({
      epoch: 2,
      calls: expect.any(Number) as number,
      stop_id: stop?.id,
    });
    const run = await ended({ url: proxy.url, key: reconciler }, String(json(recovered).run_id));
    expect(run.totals?.incomplete).toEqual([]);
    expect((await lift()).status).toBe(200);
    await eventually(() => fences().length === 0);
    for (const order of ['before', 'lost']) {
      const { status, headers } = await pay(order);
      expect([status, headers['idempotent-replayed'], headers['x-call-id']]).toEqual([
        200,
        'true',
        callIds[order],
      ]);
    }
    expect((await pay('in-doubt')).body).toMatchObject({ code: 'outcome_unknown' });
    expect((await pay('new')).body).toMatchObject({ code: 'cap_exceeded' });
    expect(await arrivals()).toBe(4);
  });

  it('is searchable and verifiable like the lost database', async () => {
    const found = () => proxy.get(auditor, `/v1/audit/calls?idempotency_key=before`);
    await eventually(async () => (await found()).status === 200);
    expect(JSON.stringify((await found()).body.calls)).toContain(callIds.before);
    const unsealed = `SELECT FROM intent WHERE NOT EXISTS (SELECT FROM audit.leaves
      WHERE record_id = intent.id)`;
    const owner = server?.urls.owner ?? '';
    await eventually(() =>
      withConnection(owner, async (client) => (await client.query(unsealed)).rowCount === 0),
    );
    const report = await cli(['audit', 'verify'], atTarget);
    expect(json(report)).toMatchObject({ fault: null, ok: true });
    expect((await proxy.get('', '/readyz')).status).toBe(200);
  });
});

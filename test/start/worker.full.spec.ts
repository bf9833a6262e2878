import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ringOf, newSigningKey, signerOf } from '../../src/history/log/note';
import { verifyLog } from '../../src/history/log/verify/verify';
import { Secret } from '../../src/platform/config/secrets/secret';
import { LOCKS } from '../../src/platform/database/locks';
import { JOB_NAMES, JobName, JOBS } from '../../src/platform/jobs/job';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { startProxy, startProxyWithSandbox, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { addStops } from '../support/records/sealing';
import { askSandbox } from '../support/sandbox/sandbox-answers';

const KEY = newSigningKey('test');
const dir = newDataDir();
afterAll(() => removeDataDir(dir));

/** Starts a worker as a separate process, which can be killed. */
const startWorker = (database: TestDatabase, upstreamUrl: string) => {
  const upstream = { UPSTREAM_BASE_URL: upstreamUrl, UPSTREAM_API_KEY: UPSTREAM_KEY };
  return new Product(
    'worker/main.js',
    [],
    { ...envOf(database), ...upstream, DATA_DIR: dir, LOG_SIGNING_KEY: KEY },
    dir,
  );
};

/** Number of workers per job. */
const holders = async (database: TestDatabase) => {
  const rows = await database.query<{ job: number; count: number }>(
    `SELECT objid::int AS job, count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND granted
      AND classid = ${LOCKS.job}
       AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         GROUP BY 1`,
  );
  const byJob = new Map(rows.map(({ job, count }) => [job, count]));
  return Object.fromEntries(JOB_NAMES.map((name) => [name, byJob.get(JOBS[name]) ?? 0])) as Record<
    JobName,
    number
  >;
};
const each = (count: number) => Object.fromEntries(JOB_NAMES.map((name) => [name, count]));

describe('a proxy without a worker', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    await database.close();
  });

  const details = async () => {
    const { body } = await proxy.get('', '/readyz').expect(200);
    return (body as unknown as { details: { worker: object } }).details.worker;
  };
  const metrics = async () => (await proxy.get('', '/metrics').expect(200)).text;

  it('pays, finds its payments, and reports that no worker is running', async () => {
    const { key } = await proxy.client('app', 'pay');
    const auditor = await proxy.client('auditor', 'audit');
    const { headers } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200);
    const { body } = await proxy
      .get(auditor.key, '/v1/audit/calls?operation=POST%20/payouts/airtime')
      .expect(200);
    expect(body.calls).toMatchObject([{ id: headers['x-call-id'] }]);
    expect(await details()).toEqual({ status: 'up', running: false, jobs_not_held: JOB_NAMES });
    for (const job of JOB_NAMES) expect(await metrics()).toContain(`payout_proxy_job_held{job="${job}"} 0`);
    expect(await database.query('SELECT FROM log_leaves')).toEqual([]);
  });

  it('stops reporting it once workers run, each job held by one of them', async () => {
    const workers = [await proxy.startWorker(), await proxy.startWorker()];
    await eventually(
      async () => JSON.stringify(await holders(database)) === JSON.stringify({ ...each(1), runs: 2 }),
    );
    expect(await details()).toEqual({ status: 'up', running: true, jobs_not_held: [] });
    for (const job of JOB_NAMES) expect(await metrics()).toContain(`payout_proxy_job_held{job="${job}"} 1`);
    await workers[0]?.close();
    await eventually(async () => JSON.stringify(await holders(database)) === JSON.stringify(each(1)));
    await eventually(async () => (await database.query('SELECT FROM log_leaves')).length > 0);
  });

  it('reports its event loop delay under the OpenTelemetry names', async () => {
    const text = await metrics();
    for (const which of ['min', 'mean', 'p50', 'p90', 'p99', 'max']) {
      expect(text).toMatch(new RegExp(`^nodejs_eventloop_delay_${which}_seconds [\\d.e-]+$`, 'm'));
    }
    expect(text).not.toContain('nodejs_eventloop_lag');
  });
});

describe('a worker that is killed', () => {
  it('leaves a log that the next one completes, with each record once', async () => {
    const [database, upstream] = [await createTestDatabase(), await FakeUpstream.start()];
    await addStops(database, 20_000); // several transactions of the sealer
    const records = 20_001; // including the configuration of the first worker
    const first = startWorker(database, upstream.url);
    const leaves = async () =>
      (await database.query<{ count: number }>('SELECT count(*)::int FROM audit.leaves'))[0]?.count ?? 0;
    await eventually(async () => (await leaves()) > 0);
    await first.signal('SIGKILL');
    expect(await leaves()).toBeLessThan(records);
    const second = startWorker(database, upstream.url);
    await eventually(async () => (await leaves()) === records);
    const { code } = await second.signal('SIGTERM');
    expect(code).toBe(0);
    expect(await database.query('SELECT FROM audit.leaves GROUP BY record_id')).toHaveLength(records);
    const client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
    await client.query('BEGIN');
    expect(await verifyLog([client], { ring: ringOf([signerOf(KEY)]), notes: [] })).toMatchObject({
      ok: true,
      records,
    });
    await client.end();
    await upstream.stop();
    await database.close();
  });

  it('leaves calls in doubt to the next one, which settles each once', async () => {
    const proxy = await startProxyWithSandbox({ checkCoverage: false, logSigningKey: new Secret(KEY) });
    const { database, sandbox } = proxy;
    const { key } = await proxy.client('app', 'pay');
    const fault = (body: object) =>
      askSandbox(sandbox.url)
        .post('/_sandbox/faults')
        .set('X-Sandbox-Control-Key', 'sandbox-control')
        .send(body)
        .expect(201);
    await fault({ fault: 'resetAfterProcessing', operation: 'POST /payouts/airtime', nth: 1 });
    const { headers } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(502);
    await fault({ fault: 'delay', operation: 'POST /account/transactions', nth: 1, ms: 5_000 });
    // Requests a round.
    await database.query(`INSERT INTO worker_task (id, kind) VALUES ($1, 'round')`, [uuidv7()]);
    const first = startWorker(database, sandbox.url);
    await eventually(async () => (await database.query('SELECT FROM source_read')).length > 0);
    await first.signal('SIGKILL');
    await proxy.startWorker();
    const verdicts = () => database.query('SELECT intent_id, resolution FROM settlement');
    await eventually(async () => (await verdicts()).length > 0);
    await eventually(
      async () => (await database.query('SELECT FROM worker_task WHERE result IS NULL')).length === 0,
    );
    expect(await verdicts()).toEqual([{ intent_id: headers['x-call-id'], resolution: 'confirmed' }]);
    await proxy.close();
  });

  it('refuses to start without a database and an upstream', async () => {
    const product = new Product('worker/main.js', [], { DATA_DIR: dir }, dir);
    const { code, stderr } = await product.exit;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^payout-proxy worker: a worker needs DATABASE_URL, .*\n$/),
    ]);
  });
});

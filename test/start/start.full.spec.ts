import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { LOCKS } from '../../src/platform/database/locks';
import { first } from '../support/examples/first';
import supertest from '../support/http/supertest';
import { eventually } from '../support/payments/paying';
import { runCli } from '../support/processes/cli';
import { removeDataDir } from '../support/processes/data-dir';
import {
  childrenOf,
  isGone,
  newDataDir,
  Product,
  readJson,
  withDescendants,
} from '../support/processes/process';
import {
  answers,
  expectStopped,
  postgresIn,
  READY,
  runningProduct,
} from '../support/processes/running-product';

const ROOT = join(__dirname, '..', '..');
const PAYMENT = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 2 }] };

/** Created by the first start, which takes longer than later ones. */
const dataDir = newDataDir();
afterAll(() => removeDataDir(dataDir));
const env = { DATA_DIR: dataDir, PORT: '0' };
const start = (more: Record<string, string> = {}) => new Product('main.js', [], { ...env, ...more }, dataDir);

/** `npm start` of a newcomer. Each test continues from the state of the previous one. */
describe('npm start', () => {
  let running: Product;
  let url: string;
  let keys: Record<'app' | 'auditor' | 'admin', string>;
  const pay = (url: string) =>
    supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ 'X-API-Key': keys.app, 'Idempotency-Key': randomUUID() }) // each is intentional
      .send(PAYMENT);
  const history = async (url: string) => {
    const payouts = '/v1/audit/calls?operation=POST%20/payouts/airtime';
    return (await supertest(url).get(payouts).set('X-API-Key', keys.auditor).expect(200)).body.calls;
  };

  it('leaves no process running when it is killed while it initializes the database', async () => {
    const halfway = start();
    const home = join(dataDir, 'postgres');
    await eventually(() => existsSync(home) && readdirSync(home).some((name) => name.startsWith('making-')));
    const processes = withDescendants(halfway.pid);
    await halfway.signal('SIGKILL');
    await eventually(() => processes.every(isGone));
  });

  it('refuses to start during another first start, and does not disturb it', async () => {
    const starts = Array.from({ length: 3 }, () => start({ START_WORKER: 'true' }));
    const ready = (one: Product) =>
      one.said(READY).then(
        () => true,
        () => false,
      );
    const isReady = await Promise.all(starts.map(ready));
    const refused = starts.filter((_one, index) => !isReady[index]);
    expect(refused).toHaveLength(2);
    running = starts[isReady.indexOf(true)] as Product;
    const holder = `process ${running.pid} on host ${hostname()}, since`;
    for (const { exit } of refused) {
      const { code, stderr } = await exit;
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^payout-proxy: another payout-proxy already uses .*\n$/),
      ]);
      expect(stderr).toContain(`already uses ${dataDir}: ${holder}`);
    }
  });

  it('starts every component, and pays', async () => {
    ({ url } = await runningProduct(running, dataDir));
    // DATA_DIR is locked regardless of the database.
    const second = start({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/x' });
    const [, consoleUrl = '', keysFile] = await running.said(
      /console\s+(http\S+)\s+sign in with the key "admin" in (\S+)\n/,
    );
    expect(keysFile).toBe(join(dataDir, 'demo-keys.json'));
    expect((await fetch(consoleUrl)).status).toBe(200);
    await supertest(url).get('/readyz').expect(200);
    keys = readJson(dataDir, 'demo-keys.json');
    expect(Object.keys(keys)).toEqual(['app', 'auditor', 'reconciler', 'approver', 'admin']);
    for (const file of ['demo-keys.json', 'sandbox.json', 'database.json']) {
      expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(Object.keys(readJson(dataDir, 'sandbox.json'))).toEqual(['url', 'apiKey', 'controlKey']);
    await pay(url).expect(200);
    const admin = { 'X-API-Key': keys.admin };
    const sandboxState = await supertest(url).get('/v1/sandbox').set(admin).expect(200);
    expect(sandboxState.body.wallets).toContainEqual(
      expect.objectContaining({ wallet: 'airtime', balance: '9998' }),
    );
    const { operation, body } = first(sandboxState.body.samples);
    const sent = await supertest(url)
      .post('/v1/sandbox/payouts')
      .set(admin)
      .send({ operation, body })
      .expect(200);
    expect(sent.body).toMatchObject({ status: 200, body: { status: 'success' } });
    const refused = await second.exit;
    expect(refused.stderr).toContain(`process ${running.pid} on host ${hostname()}, since `);
    expect(refused.stderr).toContain(`, at ${url}. Stop it, or set DATA_DIR to another folder.`);
    const refusal = `another sandbox already uses this database, at ${readJson(dataDir, 'sandbox.json').url}`;
    const sandbox = runCli(['sandbox'], { DATA_DIR: dataDir, SANDBOX_PORT: '0' }, dataDir);
    expect(await sandbox).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });
  });

  it('leaves no process running when it is killed, and keeps its history over a restart', async () => {
    const left = await runningProduct(running, dataDir);
    await running.signal('SIGKILL');
    await expectStopped(left);
    running = start({ START_WORKER: 'true' });
    ({ url } = await runningProduct(running, dataDir));
    expect(readJson(dataDir, 'demo-keys.json')).toEqual(keys);
    expect(await history(url)).toHaveLength(2);
  });

  it('has its worker send probes, because the sandbox sends no mail', () => {
    const { pid } = running;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const environments = children.map((child) => readFileSync(`/proc/${child}/environ`, 'utf8').split('\0'));
    const worker = environments.find((one) => one.some((variable) => variable.startsWith('WORKER_PORT=')));
    expect(worker).toContain('RESOLVER_PROBE_EMAIL=listing-probe@example.com');
  });

  /** The environment of another proxy with the database and the upstream of `running`. */
  async function otherProxy(more: Record<string, string> = {}) {
    const urlOf = async (...options: string[]) =>
      (await runCli(['database', 'url', ...options], { DATA_DIR: dataDir }, dataDir)).stdout.trim();
    const { url: UPSTREAM_BASE_URL, apiKey: UPSTREAM_API_KEY } = readJson(dataDir, 'sandbox.json');
    const database = { DATABASE_URL: await urlOf(), DATABASE_OWNER_URL: await urlOf('--owner') };
    return { ...database, UPSTREAM_BASE_URL, UPSTREAM_API_KEY, ...more };
  }

  it('uses the configured database and upstream, and starts neither', async () => {
    const elsewhere = newDataDir();
    const other = start(await otherProxy({ DATA_DIR: elsewhere, DRAIN_MS: '50' }));
    const [, otherUrl = ''] = await other.said(READY);
    const before = (await history(url)).length;
    await pay(otherUrl).expect(200);
    expect(await history(url)).toHaveLength(before + 1);
    await supertest(otherUrl).get('/v1/sandbox').set('X-API-Key', keys.admin).expect(404);
    expect(existsSync(join(elsewhere, 'postgres'))).toBe(false);
    expect(await other.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' }); // by itself, after DRAIN_MS
    removeDataDir(elsewhere);
  });

  it('refuses to start with a real upstream while demo keys are valid', async () => {
    const real = { UPSTREAM_BASE_URL: 'https://payouts.example.com', UPSTREAM_API_KEY: 'the-real-key' };
    const elsewhere = newDataDir(); // the database identifies its demo clients
    const { code, stderr } = await start(await otherProxy({ ...real, DATA_DIR: elsewhere })).exit;
    removeDataDir(elsewhere);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^payout-proxy: the database has demo clients of the sandbox \(admin, app, [^\n]*revoke[^\n]*\n$/,
    );
  });

  it('keeps the embedded Postgres when the lock connection drops, even while commands run', async () => {
    const { port, ownerPassword: password } = readJson(dataDir, 'database.json');
    const owner = async () => {
      const client = new Client({
        host: '127.0.0.1',
        port,
        user: 'payout_owner',
        password,
        database: 'postgres',
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        const held = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
          AND objid = ${LOCKS.embedded}`;
        return (await client.query<{ pid: number }>(held)).rows[0]?.pid;
      } catch {
        return undefined; // recovering from a crash
      } finally {
        await client.end();
      }
    };
    const ownedByAnotherThan = async (lost: number) => ![undefined, lost].includes(await owner());
    const first = (await owner()) ?? NaN;
    void running.signal('SIGSTOP'); // the command runs before the lock is taken again
    process.kill(first, 'SIGTERM'); // like pg_terminate_backend
    await eventually(async () => (await owner()) === undefined);
    const list = runCli(['clients', 'list'], { DATA_DIR: dataDir }, dataDir);
    expect(await list).toMatchObject({ code: 0, stdout: expect.stringContaining('app') });
    expect(childrenOf(running.pid).filter(isGone)).toEqual([]); // a stopped parent is still alive
    void running.signal('SIGCONT');
    await supertest(url).get('/readyz').expect(200);
    await eventually(() => ownedByAnotherThan(first));

    const second = (await owner()) ?? NaN;
    process.kill(second, 'SIGKILL'); // Postgres ends all its sessions, and recovers
    await eventually(() => ownedByAnotherThan(second));
    await eventually(async () => (await supertest(url).get('/readyz')).status === 200);
    const all = await runningProduct(running, dataDir);
    expect(await running.signal('SIGTERM')).toMatchObject({ code: 0 });
    await expectStopped(all);
  });

  it('completes a start that is stopped halfway, and leaves no process running', async () => {
    const halfway = start();
    await halfway.said(/✓ Postgres/);
    const postgres = postgresIn(dataDir);
    expect(await halfway.signal('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect(isGone(postgres)).toBe(true);
    expect(await answers(readJson(dataDir, 'sandbox.json').url)).toBe(false);
  });

  it('continues when the reader of its output ends, and stops with its terminal', async () => {
    const unheard = start({ START_WORKER: 'true' });
    await unheard.said(/✓ Postgres/);
    unheard.closeOutput();
    const lock = join(dataDir, 'lock');
    const holder = () => readdirSync(lock).find((name) => name.endsWith('.json'));
    const servesAt = () => readJson<{ url: string | null }>(lock, holder() ?? '').url;
    await eventually(() => servesAt() !== null);
    expect((await fetch(`${servesAt()}/readyz`)).status).toBe(200);
    const processes = withDescendants(unheard.pid);
    expect(await unheard.signal('SIGHUP')).toMatchObject({ code: 0, stderr: '' });
    await eventually(() => processes.every(isGone));
  });

  it('leaves no process running when its npm is killed', async () => {
    const npm = new Product(
      '/usr/bin/env',
      ['npm', '--prefix', ROOT, 'start'],
      { ...env, START_WORKER: 'true' },
      dataDir,
    );
    const all = await runningProduct(npm, dataDir);
    // npm, proxy, worker, sandbox, Postgres and its shell
    expect(all.processes.length).toBeGreaterThanOrEqual(5);
    await npm.signal('SIGKILL'); // resolves when the last of its children has closed its output
    await expectStopped(all);
  });
});

import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { removeDataDir } from './support/data-dir';
import { eventually } from './support/paying';
import { newDataDir, Product, readJson } from './support/process';
import supertest from './support/supertest';

const READY = /payout-proxy is ready\s+(http\S+)/;
const connectTo = (port: number) => new Client({ host: '127.0.0.1', port }).connect();
const PAYMENT = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 2 }] };

/** Made by the first start; to make it takes longer than to start. */
const dataDir = newDataDir();
afterAll(() => removeDataDir(dataDir));

/** npm start, as a newcomer runs it. */
describe('npm start', () => {
  const start = (env: Record<string, string> = {}) =>
    new Product('main.js', [], { DATA_DIR: dataDir, PORT: '0', ...env }, dataDir);
  const pay = (url: string) =>
    supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ 'X-API-Key': readJson(dataDir, 'demo-keys.json').app, 'Idempotency-Key': randomUUID() }) // each is meant
      .send(PAYMENT);
  /** The product and its address, left running for the tests that only need one that runs. */
  let running: Product;
  let url: string;
  const history = async (url: string) => {
    const key = readJson(dataDir, 'demo-keys.json').auditor;
    const payouts = '/v1/audit/calls?operation=POST%20/payouts/airtime';
    return (await supertest(url).get(payouts).set('X-API-Key', key).expect(200)).body.calls;
  };

  it('brings everything along, pays, keeps its history over a restart, and leaves nothing running', async () => {
    const first = start();
    [, url = ''] = await first.said(READY);
    const [, consoleUrl = '', keysFile] = await first.said(
      /console\s+(http\S+)\s+sign in with the key "admin" in (\S+)\n/,
    );
    expect(keysFile).toBe(join(dataDir, 'demo-keys.json'));
    expect((await fetch(consoleUrl)).status).toBe(200);
    await supertest(url).get('/readyz').expect(200);
    const keys = readJson(dataDir, 'demo-keys.json');
    expect(Object.keys(keys)).toEqual(['app', 'auditor', 'reconciler', 'approver', 'admin']);
    for (const file of ['demo-keys.json', 'sandbox.json', 'database.json']) {
      expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(Object.keys(readJson(dataDir, 'sandbox.json'))).toEqual(['url', 'apiKey', 'controlKey']);
    await pay(url).expect(200);
    const sandboxState = await supertest(url).get('/v1/sandbox').set('X-API-Key', keys.admin).expect(200);
    expect(sandboxState.body.wallets).toContainEqual(expect.objectContaining({ wallet: 'airtime', balance: '9998' }));
    const [sample] = sandboxState.body.samples;
    const sent = await supertest(url)
      .post('/v1/sandbox/payouts')
      .set('X-API-Key', keys.admin)
      .send({ operation: sample!.operation, body: sample!.body })
      .expect(200);
    expect(sent.body).toMatchObject({ status: 200, body: { status: 'success' } });

    const sandbox = new Product('cli/main.js', ['sandbox'], { DATA_DIR: dataDir, SANDBOX_PORT: '0' }, dataDir);
    const refusal = `another sandbox already uses this database, at ${readJson(dataDir, 'sandbox.json').url}`;
    expect(await sandbox.exit).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });

    const second = start();
    expect(await second.exit).toMatchObject({ code: 1, stderr: expect.stringContaining('already uses') });

    const postgresPort = readJson(dataDir, 'database.json').port;
    expect(await first.signal('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    await expect(connectTo(postgresPort)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(fetch(readJson(dataDir, 'sandbox.json').url)).rejects.toThrow();

    running = start();
    [, url = ''] = await running.said(READY);
    expect(readJson(dataDir, 'demo-keys.json')).toEqual(keys);
    expect(await history(url)).toHaveLength(2);
  });

  it('uses the database and the upstream that the environment names, and then starts neither', async () => {
    const { exit } = new Product('cli/main.js', ['database', 'url'], { DATA_DIR: dataDir }, dataDir);
    const { exit: ownerExit } = new Product(
      'cli/main.js',
      ['database', 'url', '--owner'],
      { DATA_DIR: dataDir },
      dataDir,
    );
    const elsewhere = newDataDir();
    const other = new Product(
      'main.js',
      [],
      {
        DATA_DIR: elsewhere,
        PORT: '0',
        DATABASE_URL: (await exit).stdout.trim(),
        DATABASE_OWNER_URL: (await ownerExit).stdout.trim(),
        UPSTREAM_BASE_URL: readJson(dataDir, 'sandbox.json').url,
        UPSTREAM_API_KEY: readJson(dataDir, 'sandbox.json').apiKey,
      },
      elsewhere,
    );
    const [, otherUrl = ''] = await other.said(READY);
    const before = (await history(url)).length;
    await pay(otherUrl).expect(200);
    expect(await history(url)).toHaveLength(before + 1);
    const { admin } = readJson(dataDir, 'demo-keys.json');
    await supertest(otherUrl).get('/v1/sandbox').set('X-API-Key', admin).expect(404);
    expect(existsSync(join(elsewhere, 'postgres'))).toBe(false);
    await other.signal('SIGTERM');
    removeDataDir(elsewhere);
  });

  it('keeps its Postgres when the connection that says whose it is gets lost, even while commands run', async () => {
    const { port, ownerPassword: password } = readJson(dataDir, 'database.json');
    const access = { host: '127.0.0.1', port, user: 'payout_owner', password, database: 'postgres' };
    const owner = async () => {
      const client = new Client(access);
      client.on('error', () => undefined);
      try {
        await client.connect();
        const held = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = 7070002";
        return (await client.query<{ pid: number }>(held)).rows[0]?.pid;
      } catch {
        return undefined; // it recovers from a crash
      } finally {
        await client.end();
      }
    };
    const ownedByAnotherThan = async (lost: number) => ![undefined, lost].includes(await owner());
    const first = (await owner()) ?? NaN;
    void running.signal('SIGSTOP'); // so that the command comes before the lock is taken again
    process.kill(first, 'SIGTERM'); // as pg_terminate_backend does
    await eventually(async () => (await owner()) === undefined);
    const list = new Product('cli/main.js', ['clients', 'list'], { DATA_DIR: dataDir }, dataDir);
    expect(await list.exit).toMatchObject({ code: 0, stdout: expect.stringContaining('app') });
    void running.signal('SIGCONT');
    await supertest(url).get('/readyz').expect(200);
    await eventually(() => ownedByAnotherThan(first));

    const second = (await owner()) ?? NaN;
    process.kill(second, 'SIGKILL'); // Postgres ends all its sessions, and recovers
    await eventually(() => ownedByAnotherThan(second));
    await eventually(async () => (await supertest(url).get('/readyz')).status === 200);
    expect(await running.signal('SIGTERM')).toMatchObject({ code: 0 });
    await expect(connectTo(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('finishes a start that is asked to stop halfway, and leaves nothing running', async () => {
    const halfway = start();
    await halfway.said(/✓ Postgres/);
    expect(await halfway.signal('SIGINT')).toMatchObject({ code: 0 });
    await expect(connectTo(readJson(dataDir, 'database.json').port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('stops when the npm that runs it has gone', async () => {
    const script = `"${process.execPath}" "${join(__dirname, '..', 'dist', 'main.js')}"; true`; // a shell in between, as npm's
    const env = { DATA_DIR: dataDir, PORT: '0', npm_lifecycle_event: 'start' };
    const shell = new Product('/bin/sh', ['-c', script], env, dataDir);
    await shell.said(READY);
    await shell.signal('SIGKILL'); // resolves when the last of its children has closed its output
    await expect(connectTo(readJson(dataDir, 'database.json').port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is refused beside a real upstream as long as demo keys open', async () => {
    const upstream = { UPSTREAM_BASE_URL: 'https://payouts.example.com', UPSTREAM_API_KEY: 'the-real-key' };
    const { code, stderr } = await start(upstream).exit;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^payout-proxy: the database has demo clients of the sandbox \(admin, app, [^\n]*revoke[^\n]*\n$/,
    );
  });
});

describe('a start that cannot be says why in one line and ends with 1', () => {
  const refuse = async (env: Record<string, string>) => {
    const { code, stderr } = await new Product('main.js', [], { DATA_DIR: dataDir, ...env }, dataDir).exit;
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return stderr;
  };

  it('for a taken port', async () => {
    const holder = createServer();
    const port = await new Promise<number>((resolve) =>
      holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port)),
    );
    expect(await refuse({ PORT: String(port) })).toContain(`port ${port} is in use`);
    holder.close();
  });

  it('for a bad variable, without its value', async () => {
    const line = await refuse({ PORT: 'eighty', DATABASE_URL: 'mysql://user:hunter2@db/x' });
    expect(line).toMatch(/PORT .*DATABASE_URL/s);
    expect(line).not.toMatch(/eighty|hunter2/);
  });

  it('for an unreachable database, without its password', async () => {
    const line = await refuse({ DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/records' });
    expect(line).toContain('the database records at 127.0.0.1:1 cannot be reached (ECONNREFUSED)');
    expect(line).not.toContain('hunter2');
  });

  it("for a variable of the sandbox, in the sandbox's own sentence", async () => {
    expect(await refuse({ SANDBOX_QUIRKS: 'unheardOf' })).toMatch(
      /sandbox cannot start: SANDBOX_QUIRKS must name quirks/,
    );
  });

  it('for production without a database, an upstream or its key', async () => {
    const line = await refuse({ NODE_ENV: 'production' });
    for (const name of ['DATABASE_URL', 'UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY'])
      expect(line).toContain(`${name} is required`);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { KeyCallersService } from '../../src/access/callers/key-callers.service';
import { ClientsService } from '../../src/access/clients/clients.service';
import { DemoClientsService } from '../../src/access/clients/demo-clients.service';
import { bindDemoClients, ensureDemoKeys, refuseDemoClients } from '../../src/app/start/demo-keys';
import { StartError } from '../../src/platform/config/config';
import { Secret } from '../../src/platform/config/secrets/secret';
import { DirectoryLock, lockDataDir } from '../../src/platform/database/embedded/directory-lock';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { prepareHome } from '../../src/platform/database/embedded/home';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, readJson } from '../support/processes/process';
import { startProxy } from '../support/processes/proxy';

describe('the embedded Postgres', () => {
  const dataDir = newDataDir();
  const passwords = join(dataDir, 'database.json');
  const startAndStop = async () => (await startEmbeddedPostgres(dataDir)).stop();

  afterAll(() => removeDataDir(dataDir));

  it('keeps its records when its passwords are lost, and starts once they are restored', async () => {
    await startAndStop();
    const home = prepareHome(dataDir);
    renameSync(passwords, `${passwords}.lost`);
    await expect(startAndStop()).rejects.toThrow(`Restore database.json in ${dataDir}`);
    expect(existsSync(join(home.cluster, 'PG_VERSION'))).toBe(true);
    writeFileSync(passwords, readFileSync(`${passwords}.lost`, 'utf8').slice(0, 20));
    await expect(startAndStop()).rejects.toThrow(`${passwords} cannot be read. It has the passwords`);
    renameSync(`${passwords}.lost`, passwords);
    await startAndStop();
  });

  it('explains how to recover if another process has the process ID of a crashed server', async () => {
    const home = prepareHome(dataDir);
    const other = spawn('sleep', ['60'], { cwd: '/', ...home.user });
    const file = join(home.cluster, 'postmaster.pid');
    writeFileSync(file, `${other.pid}\n${home.cluster}\n1\n1\n\n127.0.0.1\n`);
    home.own(file);
    await expect(startAndStop()).rejects.toThrow(
      `does not respond (ECONNREFUSED). If no postgres process is running, delete`,
    );
    other.kill();
    rmSync(file);
    await startAndStop();
  });

  it('starts while a server left by a killed process is still ending', async () => {
    const module = join(
      __dirname,
      '..',
      '..',
      'dist',
      'platform',
      'database',
      'embedded',
      'embedded-postgres.js',
    );
    const own =
      `require(${JSON.stringify(module)}).startEmbeddedPostgres(${JSON.stringify(dataDir)}).then(() => ` +
      `console.log('owned'))`;
    const owner = spawn(process.execPath, ['-e', own], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(owner.stdout, 'data');
    const pid = () =>
      Number(readFileSync(join(prepareHome(dataDir).cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const left = pid();
    owner.kill('SIGKILL');
    const postgres = await startEmbeddedPostgres(dataDir);
    expect(pid()).not.toBe(left);
    expect(() => process.kill(left, 0)).toThrow('ESRCH');
    await postgres.stop();
  });

  it('restarts an interrupted first start from the beginning', async () => {
    const { unfinished } = prepareHome(dataDir);
    const { ownerPassword } = readJson<Record<string, string>>(passwords);
    rmSync(passwords);
    writeFileSync(unfinished, '');
    await startAndStop();
    expect(readJson<Record<string, string>>(passwords).ownerPassword).not.toBe(ownerPassword);
    expect(existsSync(unfinished)).toBe(false);
    expect(statSync(passwords).mode & 0o777).toBe(0o600);
  });
});

describe('the lock of a directory', () => {
  const dataDir = newDataDir();
  const take = () => DirectoryLock.take(dataDir, 0, false);

  afterAll(() => removeDataDir(dataDir));

  it('is held by one of many simultaneous processes, until it is released', async () => {
    for (let round = 1; round <= 3; round += 1) {
      const [holder, ...others] = (await Promise.all(Array.from({ length: 20 }, take))).filter(
        (lock) => lock,
      );
      expect(others).toEqual([]);
      expect(await take()).toBeUndefined();
      await holder?.release();
    }
    const numbered = readdirSync(join(dataDir, 'lock'));
    expect(numbered).toHaveLength(1); // without other entries
  });

  it('is free after its holder was killed, and held while its holder is only stopped', async () => {
    const module = JSON.stringify(
      join(__dirname, '..', '..', 'dist', 'platform', 'database', 'embedded', 'directory-lock.js'),
    );
    const hold = `const taking = require(${module}).DirectoryLock.take(${JSON.stringify(dataDir)}, 0, false);
      taking.then((lock) => console.log(lock ? 'held' : 'not'));
      setInterval(() => undefined, 1000)`;
    const holder = spawn(process.execPath, ['-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(holder.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('held\n');
    expect(await take()).toBeUndefined();
    holder.kill('SIGSTOP');
    expect(await take()).toBeUndefined();
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const [lock, ...others] = (await Promise.all(Array.from({ length: 20 }, take))).filter((lock) => lock);
    expect(others).toEqual([]);
    await lock?.release();
  });

  it("names its holder and the holder's address, and ignores an earlier holder", async () => {
    const lock = await take();
    const first = await DirectoryLock.holderOf(dataDir);
    expect(first).toMatchObject({ pid: process.pid, host: hostname(), embedded_postgres: false, url: null });
    expect(Date.parse(first?.since ?? '')).not.toBeNaN();
    lock?.serves('http://127.0.0.1:3000');
    expect(await DirectoryLock.holderOf(dataDir)).toEqual({ ...first, url: 'http://127.0.0.1:3000' });
    const files = () => readdirSync(join(dataDir, 'lock')).filter((name) => name.endsWith('.json'));
    const [file = ''] = files();
    expect(statSync(join(dataDir, 'lock', file)).mode & 0o777).toBe(0o600);
    const left = readFileSync(join(dataDir, 'lock', file));
    await lock?.release();
    expect(files()).toEqual([]);
    writeFileSync(join(dataDir, 'lock', file), left); // left by a killed holder
    const next = await take();
    expect(await DirectoryLock.holderOf(dataDir)).toMatchObject({ url: null });
    expect(files()).toHaveLength(1);
    await expect(lockDataDir(dataDir, false)).rejects.toThrow(
      `already uses ${dataDir}: process ${process.pid} on host ${hostname()}, since `,
    );
    await next?.release();
  });

  it('reports a file system without locks', async () => {
    const link = jest.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw Object.assign(new Error('not here'), { code: 'EPERM' });
    });
    await expect(take()).rejects.toThrow(
      'DATA_DIR cannot be locked (EPERM). Set DATA_DIR to a folder on a local disk.',
    );
    link.mockRestore();
  });

  it('makes commands ask for the database of a proxy with another one', async () => {
    const lock = await lockDataDir(dataDir, false);
    await expect(startEmbeddedPostgres(dataDir, { joinRunning: true })).rejects.toThrow(
      `process ${process.pid} on host ${hostname()}) uses another database. Set DATABASE_URL as it does.`,
    );
    await lock.release();
  });

  it('works for a directory with a long path', async () => {
    const long = join(dataDir, 'x'.repeat(120));
    mkdirSync(long);
    const lock = await DirectoryLock.take(long, 0, false);
    expect(await DirectoryLock.take(long, 0, false)).toBeUndefined();
    await lock?.release();
  });
});

describe('the demo keys', () => {
  const dataDir = newDataDir();
  const newProxy = () => startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });

  afterAll(() => removeDataDir(dataDir));

  it('are written once per database, and the old ones do not work with a new one', async () => {
    for (const proxy of [await newProxy(), await newProxy()]) {
      const clients = proxy.app.get(ClientsService, { strict: false });
      const keys = readJson<Record<string, string>>(await ensureDemoKeys(clients, dataDir));
      const found = await proxy.app.get(KeyCallersService, { strict: false }).identify(keys.app ?? '');
      expect(found).toMatchObject({ clientName: 'app' });
      const seesAll = await proxy.get(keys.admin ?? '', '/v1/audit/calls').expect(200);
      expect(seesAll.body.calls).toEqual([]);
      expect(readJson<Record<string, string>>(await ensureDemoKeys(clients, dataDir))).toEqual(keys);
      const { body } = await proxy.get(keys.admin ?? '', '/v1/activity?client=app').expect(200);
      expect(body.activity).toMatchObject([
        { action: 'key_issued', via: 'start', by: { client: null, actor: null } },
        { action: 'client_created', via: 'start', by: { client: null, actor: null } },
      ]);
      await proxy.close();
    }
  });

  it('belong to their sandbox, and prevent a start with another upstream until revoked', async () => {
    const proxy = await newProxy();
    const clients = proxy.app.get(ClientsService, { strict: false });
    const demo = proxy.app.get(DemoClientsService, { strict: false });
    const upstream = (upstreamBaseUrl: string, key = 'its-key') => ({
      dataDir,
      upstreamBaseUrl,
      upstreamApiKey: new Secret(key),
    });
    const sandbox = upstream('http://127.0.0.1:4010');
    await ensureDemoKeys(clients, dataDir);
    // A start that ended here left them unbound. The file identifies them.
    await expect(refuseDemoClients(demo, upstream('https://api.example.com'))).rejects.toThrow(
      /demo clients of the sandbox \(admin, app, approver, auditor, reconciler\).*DATA_DIR.*revoke/,
    );
    await bindDemoClients(demo, sandbox);
    await refuseDemoClients(demo, sandbox); // a second proxy with the same sandbox
    const others = [upstream('https://api.example.com'), upstream('http://127.0.0.1:4010', 'another-key')];
    for (const other of others) {
      await expect(refuseDemoClients(demo, other)).rejects.toThrow(StartError);
      await expect(refuseDemoClients(demo, { ...other, dataDir: '/nowhere' })).rejects.toThrow(StartError);
    }
    await proxy.client('another', 'pay'); // belongs to no sandbox
    await proxy.database.query(
      "UPDATE api_key SET revoked_at = now() FROM client c WHERE c.id = client_id AND c.name <> 'another'",
    );
    for (const other of others) await refuseDemoClients(demo, other);
    await proxy.close();
  });
});

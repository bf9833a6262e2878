import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { childEnvironment } from '../../config/child-environment';
import { StartError } from '../../config/config';
import { writePrivateJson } from '../../config/private-file';
import { SessionLock } from '../session-lock';
import { Home, prepareHome } from './home';
import { findPort } from './ports';

/** Held by whoever started the server, as long as it lives. */
const OWNER_LOCK = 7_070_002;

/** What only this module and `database url` need to know; kept in DATA_DIR/database.json, readable by its owner only. */
interface Access {
  port: number;
  ownerPassword: string;
  proxyPassword: string;
  sandboxPassword: string;
}

export interface Urls {
  /** The proxy's database, as a login that may add records but not change them. */
  proxy: string;
  /** The same database as its owner, for migrations. */
  owner: string;
  /** The sandbox's own database. */
  sandbox: string;
}

export interface EmbeddedPostgres {
  urls: Urls;
  /** Stops the server if this process owns it. */
  stop(): Promise<void>;
}

/**
 * A Postgres of our own below `dataDir`, from binaries inside an npm package. Started if it does not run; a server that a
 * crashed process left behind is taken over.
 * @param joinRunning use a server that runs already, without asking whose it is and without taking it over.
 * @throws StartError if there are no binaries for this platform, another process owns the server, or it does not answer.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: { joinRunning?: boolean; settings?: string[] } = {},
): Promise<EmbeddedPostgres> {
  const home = prepareHome(dataDir);
  const settings = options.settings ?? [];
  const known = readAccess(dataDir, home);
  const access = known ?? (await initialise(dataDir, home, settings));
  rmSync(home.unfinished, { force: true });
  const isOn = await isRunning(home);
  if (!isOn) {
    access.port = await findPort(access.port);
    writeAccess(dataDir, access); // first, so that whoever takes the server over from us finds it
    await start(home, access, settings);
  }
  // Its owner may have lost the lock and be about to take it again: who has joined a server never takes it, nor stops it.
  if (options.joinRunning && known && isOn) return { urls: urlsOf(access), stop: () => Promise.resolve() };
  const lock = await lockOwnership(home, access);
  if (lock === undefined && !options.joinRunning) {
    throw new StartError(
      `another payout-proxy already runs on ${dataDir}; stop it, or give this one a DATA_DIR of its own`,
    );
  }
  return {
    urls: urlsOf(access),
    stop: async () => {
      // Without the lock it may be another's meanwhile: a server that is left running does no harm, one that is missing does.
      if (!(await lock?.release()) || !(await isRunning(home))) return;
      await run(home, 'pg_ctl', ['stop', '--pgdata', home.cluster, '--mode', 'fast', '--wait', '--silent']);
    },
  };
}

/** The addresses of the databases, if there ever was a first start. */
export function embeddedUrls(dataDir: string): Urls | undefined {
  const file = join(dataDir, 'database.json');
  return existsSync(file) ? urlsOf(JSON.parse(readFileSync(file, 'utf8')) as Access) : undefined;
}

function readAccess(dataDir: string, home: Home): Access | undefined {
  const file = join(dataDir, 'database.json');
  if (!existsSync(file) || !existsSync(join(home.cluster, 'PG_VERSION'))) return undefined;
  return JSON.parse(readFileSync(file, 'utf8')) as Access;
}

function writeAccess(dataDir: string, access: Access): void {
  writePrivateJson(join(dataDir, 'database.json'), access);
}

/** A first start that was interrupted is begun anew; a cluster that was ever finished is never thrown away. */
async function initialise(dataDir: string, home: Home, settings: string[]): Promise<Access> {
  if (existsSync(home.cluster) && !existsSync(home.unfinished)) {
    throw new StartError(
      `there are records in ${home.cluster} but no passwords for them; put database.json back into ${dataDir}, or delete that folder to begin anew`,
    );
  }
  writeFileSync(home.unfinished, '');
  const secret = () => randomBytes(24).toString('base64url');
  const port = await findPort(0);
  const access = { port, ownerPassword: secret(), proxyPassword: secret(), sandboxPassword: secret() };
  await execute(home, 'pg_ctl', ['stop', '--pgdata', home.cluster, '--mode', 'immediate']); // of an interrupted first start
  rmSync(home.cluster, { recursive: true, force: true });
  const passwordFile = join(home.directory, 'password');
  writeFileSync(passwordFile, access.ownerPassword, { mode: 0o600 });
  home.own(passwordFile);
  const owner = ['--username', 'payout_owner', '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const text = ['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'];
  await run(home, 'initdb', ['--pgdata', home.cluster, ...owner, ...text, '--no-sync']);
  rmSync(passwordFile);
  await start(home, access, settings);
  await createDatabases(access);
  writeAccess(dataDir, access);
  return access;
}

/**
 * After each checkpoint the first change of a page puts the whole page into the log. By default it is time for one after half a
 * gigabyte, under load some times a minute, and then a third of the log is such pages. Not more: a server that crashed reads all
 * of it before it answers.
 */
const CHECKPOINTS = ['-c max_wal_size=2GB', '-c checkpoint_timeout=15min'];

async function start(home: Home, { port }: Access, settings: string[]): Promise<void> {
  const log = join(home.directory, 'postgres.log');
  const server = [
    `-p ${port}`,
    '-h 127.0.0.1',
    "-c unix_socket_directories=''",
    '-c max_connections=200',
    ...CHECKPOINTS,
  ];
  const options = [...server, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  await run(home, 'pg_ctl', [
    'start',
    ...['--pgdata', home.cluster, '--wait', '--silent', '--log', log, '--options', options],
  ]);
}

async function createDatabases(access: Access): Promise<void> {
  const client = new Client({ connectionString: maintenanceUrl(access) });
  await client.connect();
  try {
    await client.query('CREATE ROLE payout_proxy NOLOGIN');
    // The passwords are ours and base64url: nothing to escape, and CREATE ROLE takes no parameters.
    await client.query(`CREATE ROLE payout_proxy_login LOGIN PASSWORD '${access.proxyPassword}' IN ROLE payout_proxy`);
    await client.query(`CREATE ROLE sandbox LOGIN PASSWORD '${access.sandboxPassword}'`);
    await client.query('CREATE DATABASE payout_proxy');
    await client.query('CREATE DATABASE sandbox OWNER sandbox');
    await client.query('REVOKE CONNECT ON DATABASE payout_proxy, sandbox FROM PUBLIC');
    await client.query('GRANT CONNECT ON DATABASE payout_proxy TO payout_proxy_login');
  } finally {
    await client.end();
  }
}

/** The lock says who owns the server. */
async function lockOwnership(home: Home, access: Access): Promise<SessionLock | undefined> {
  return SessionLock.take(maintenanceUrl(access), OWNER_LOCK).catch(({ code = 'no answer' }: { code?: string }) => {
    throw new StartError(
      `the embedded Postgres does not answer (${code}); if no postgres runs any more, delete ${join(home.cluster, 'postmaster.pid')}`,
    );
  });
}

/** In a database of its own: one that is connected to can be neither cloned nor dropped. */
function maintenanceUrl(access: Access): string {
  return address(access, 'payout_owner', access.ownerPassword, 'postgres');
}

function urlsOf(access: Access): Urls {
  return {
    proxy: address(access, 'payout_proxy_login', access.proxyPassword, 'payout_proxy'),
    owner: address(access, 'payout_owner', access.ownerPassword, 'payout_proxy'),
    sandbox: address(access, 'sandbox', access.sandboxPassword, 'sandbox'),
  };
}

function address({ port }: Access, user: string, password: string, database: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
}

async function isRunning(home: Home): Promise<boolean> {
  return (await execute(home, 'pg_ctl', ['status', '--pgdata', home.cluster])).code === 0;
}

async function run(home: Home, program: 'initdb' | 'pg_ctl', args: string[]): Promise<void> {
  const { code, output } = await execute(home, program, args);
  if (code === 0) return;
  const log = join(home.directory, 'postgres.log');
  appendFileSync(log, output);
  home.own(log); // else the server could not write it
  const lines = output.trim().split('\n');
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? (lines.at(-1) || `exit code ${code}`);
  throw new StartError(`the embedded Postgres: ${program} failed (${reason}); see ${log}`);
}

function execute(home: Home, program: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(home.binaries, program), args, {
      cwd: home.directory,
      detached: true, // a Ctrl-C is for us: what it broke off here would be half done
      env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
      // The server inherits what pg_ctl has: a pipe would stay open for its whole life.
      stdio: ['ignore', program === 'initdb' ? 'pipe' : 'ignore', program === 'initdb' ? 'pipe' : 'ignore'],
      ...home.user,
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

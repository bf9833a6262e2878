import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { StartError } from '../../config/config';
import { Home, prepareHome } from './home';

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
  /** Stops the server if this process started it (or found it abandoned by a crash). */
  stop(): Promise<void>;
}

/**
 * A Postgres of our own below `dataDir`, from binaries inside an npm package. Started if it does not run; a server that a
 * crashed process left behind is taken over.
 * @param joinRunning use a server that another living process owns, instead of refusing.
 * @throws StartError if there are no binaries for this platform, or another process owns the server.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: { joinRunning?: boolean; settings?: string[] } = {},
): Promise<EmbeddedPostgres> {
  const home = prepareHome(dataDir);
  const access = readAccess(dataDir, home) ?? (await initialise(dataDir, home, options.settings ?? []));
  if (!(await isRunning(home))) {
    await start(home, access, options.settings ?? []);
    writeAccess(dataDir, access); // its port may be another than last time
  }
  const urls = urlsOf(access);
  const lock = await lockOwnership(access);
  if (lock === undefined && !options.joinRunning) {
    throw new StartError(
      `another payout-proxy already runs on ${dataDir}; stop it, or give this one a DATA_DIR of its own`,
    );
  }
  return {
    urls,
    stop: async () => {
      if (!lock) return;
      await lock.end();
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

/** Written last: a first start that was interrupted leaves no file and is begun anew. */
function writeAccess(dataDir: string, access: Access): void {
  writeFileSync(join(dataDir, 'database.json'), JSON.stringify(access, null, 2), { mode: 0o600 });
}

async function initialise(dataDir: string, home: Home, settings: string[]): Promise<Access> {
  const secret = () => randomBytes(24).toString('base64url');
  const access = { port: 0, ownerPassword: secret(), proxyPassword: secret(), sandboxPassword: secret() };
  await execute(home, 'pg_ctl', ['stop', '--pgdata', home.cluster, '--mode', 'immediate']); // of an interrupted first start
  rmSync(home.cluster, { recursive: true, force: true });
  const passwordFile = join(home.directory, 'password');
  writeFileSync(passwordFile, access.ownerPassword, { mode: 0o600 });
  home.own(passwordFile);
  await run(home, 'initdb', [
    ...['--pgdata', home.cluster, '--username', 'payout_owner', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    ...[
      '--encoding',
      'UTF8',
      '--locale-provider',
      'builtin',
      '--builtin-locale',
      'C.UTF-8',
      '--locale',
      'C',
      '--no-sync',
    ],
  ]);
  rmSync(passwordFile);
  await start(home, access, settings);
  await createDatabases(access);
  writeAccess(dataDir, access);
  return access;
}

/** Starts the server on its port of last time, or on another if that is taken now. */
async function start(home: Home, access: Access, settings: string[]): Promise<void> {
  if (access.port === 0 || !(await isFree(access.port))) access.port = await freePort();
  const server = [`-p ${access.port}`, '-h 127.0.0.1', "-c unix_socket_directories=''", '-c max_connections=200'];
  await run(home, 'pg_ctl', [
    ...['start', '--pgdata', home.cluster, '--wait', '--silent', '--log', join(home.directory, 'postgres.log')],
    ...['--options', [...server, ...settings.map((setting) => `-c ${setting}`)].join(' ')],
  ]);
}

async function createDatabases(access: Access): Promise<void> {
  const client = ownerClient(access);
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

/** A session lock says who owns the server: it is gone the moment its holder dies, whatever way. */
async function lockOwnership(access: Access): Promise<Client | undefined> {
  const client = ownerClient(access);
  client.on('error', () => undefined); // the server was stopped by hand; the proxy's own connections report it
  await client.connect();
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [OWNER_LOCK]);
  if (rows[0]?.locked) return client;
  await client.end();
  return undefined;
}

/** In a database of its own: one that is connected to can be neither cloned nor dropped. */
function ownerClient(access: Access): Client {
  return new Client({ connectionString: address(access, 'payout_owner', access.ownerPassword, 'postgres') });
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
  appendFileSync(join(home.directory, 'postgres.log'), output);
  const reason = output.trim().split('\n').at(-1) ?? '';
  throw new StartError(
    `the embedded Postgres: ${program} failed (${reason}); see ${join(home.directory, 'postgres.log')}`,
  );
}

function execute(home: Home, program: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(home.binaries, program), args, {
      cwd: home.directory,
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound ? bound.port : 0));
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

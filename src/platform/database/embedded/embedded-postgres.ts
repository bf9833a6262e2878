import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { StartError } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { LOCKS } from '../locks';
import { SessionLock } from '../pools/session-lock';
import {
  EmbeddedAccess,
  embeddedUrls,
  maintenanceUrl,
  readAccess,
  EmbeddedUrls,
  urlsOf,
  writeAccess,
} from './access';
import { DirectoryLock, lockDataDir } from './directory-lock';
import { alreadyUsed } from './holder';
import { Home, makeDataDir, prepareHome } from './home';
import { execute, findPort, isRunning, run, RunningServer, startServer } from './server';

export interface EmbeddedPostgres {
  urls: EmbeddedUrls;
  /** Stops the server if this process owns it. */
  stop(): Promise<void>;
}

/** Time limit of a command for the first start of a proxy. */
const FIRST_START_MS = 120_000;

/**
 * One round of hashing for a login. The default of 4,096 rounds protects passwords of people. Ours are 192
 * random bits, and the rounds would take some milliseconds of each connection.
 */
const LOGIN = ['--set', 'scram_iterations=1'];

/** Time that a server needs to end after its owner was killed. */
const ENDING_MS = 5_000;

/**
 * Starts a Postgres below `dataDir` with binaries from an npm package. It runs as long as this process. A
 * server that was left behind is stopped and started again.
 * @param joinRunning whether to use a server of another process.
 * @param lock the lock of `dataDir`, if the caller holds it. Otherwise, it is taken until the server stops.
 * @throws StartError without binaries for this platform, or if another process owns the server.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: { joinRunning?: boolean; settings?: string[]; lock?: DirectoryLock } = {},
): Promise<EmbeddedPostgres> {
  if (options.lock) return startOwned(dataDir, options);
  const { joinRunning = false } = options;
  makeDataDir(dataDir);
  const lock = joinRunning ? await DirectoryLock.take(dataDir, 0, true) : await lockDataDir(dataDir, true);
  if (lock === undefined) return { urls: await urlsOnceRunning(dataDir), stop: () => Promise.resolve() };
  try {
    const postgres = await startOwned(dataDir, options);
    const stop = async () => {
      await postgres.stop();
      await lock.release();
    };
    return { ...postgres, stop };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Starts a server. The caller must hold the lock of the directory. */
async function startOwned(
  dataDir: string,
  { joinRunning = false, settings = [] }: { joinRunning?: boolean; settings?: string[] },
): Promise<EmbeddedPostgres> {
  const home = prepareHome(dataDir);
  const known = readAccess(dataDir, home);
  if (known && (await isRunning(home)) && !(await stopLeftBehind(home, known))) {
    if (joinRunning) return { urls: urlsOf(known), stop: () => Promise.resolve() };
    throw alreadyUsed(dataDir, undefined);
  }
  const { access, server } = known
    ? await startAgain(dataDir, home, known, settings)
    : await initialise(dataDir, home, settings);
  const session = await lockOwnership(home, access);
  return {
    urls: urlsOf(access),
    stop: async () => {
      await session?.release();
      await server.stop();
    },
  };
}

/**
 * Stops a server without an owner, which may be ending by itself. Leaves another program with its process ID
 * alone.
 * @returns false if the server has an owner that does not hold the lock of the directory.
 */
async function stopLeftBehind(home: Home, access: EmbeddedAccess): Promise<boolean> {
  const deadline = performance.now() + ENDING_MS;
  for (;;) {
    try {
      const session = await lockOwnership(home, access);
      if (session === undefined) return false;
      await session.release();
      await run(home, 'pg_ctl', ['stop', '--pgdata', home.cluster, '--mode', 'fast', '--wait', '--silent']);
      return true;
    } catch (error) {
      if (!(await isRunning(home))) return true;
      if (performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/** Returns the addresses of a server that another process owns, once it runs. */
async function urlsOnceRunning(dataDir: string): Promise<EmbeddedUrls> {
  const holder = await DirectoryLock.holderOf(dataDir);
  if (holder && !holder.embedded_postgres) {
    throw new StartError(
      `the payout-proxy in ${dataDir} (process ${holder.pid} on host ${holder.host}) uses another ` +
        'database. Set DATABASE_URL as it does.',
    );
  }
  const deadline = performance.now() + FIRST_START_MS;
  for (;;) {
    // The owner writes the addresses once the home is complete.
    const home = embeddedUrls(dataDir) && prepareHome(dataDir);
    const access = home && !existsSync(home.unfinished) ? readAccess(dataDir, home) : undefined;
    if (home && access && (await isRunning(home))) return urlsOf(access);
    if (performance.now() > deadline) {
      throw new StartError(
        `another payout-proxy uses ${dataDir}, but its database is not running. Restart that proxy.`,
      );
    }
    await sleep(200);
  }
}

interface StartedServer {
  access: EmbeddedAccess;
  server: RunningServer;
}

async function startAgain(
  dataDir: string,
  home: Home,
  known: EmbeddedAccess,
  settings: string[],
): Promise<StartedServer> {
  rmSync(home.unfinished, { force: true });
  const access = { ...known, port: await findPort(known.port) };
  writeAccess(dataDir, access); // first, so that joining processes find it
  return { access, server: await startServer(home, access.port, settings) };
}

/** Initializes the cluster, again after an interrupted first start. Never deletes a complete cluster. */
async function initialise(dataDir: string, home: Home, settings: string[]): Promise<StartedServer> {
  if (existsSync(home.cluster) && !existsSync(home.unfinished)) {
    throw new StartError(
      `${home.cluster} has records, but their passwords are missing. Restore database.json in ` +
        `${dataDir}, or delete that folder to start without records.`,
    );
  }
  writeFileSync(home.unfinished, '');
  const secret = () => randomBytes(24).toString('base64url');
  const port = await findPort(0);
  const access = { port, ownerPassword: secret(), proxyPassword: secret(), sandboxPassword: secret() };
  // the server of an interrupted first start
  await execute(home, 'pg_ctl', ['stop', '--pgdata', home.cluster, '--mode', 'immediate']);
  rmSync(home.cluster, { recursive: true, force: true });
  const passwordFile = join(home.directory, 'password');
  writeFileSync(passwordFile, access.ownerPassword, { mode: 0o600 });
  home.own(passwordFile);
  const owner = ['--username', 'payout_owner', '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const text = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  for (const name of readdirSync(home.directory).filter((name) => name.startsWith('making-'))) {
    rmSync(join(home.directory, name), { recursive: true, force: true, maxRetries: 3 });
  }
  // A separate directory, because an interrupted start may still be at work on its own.
  const making = join(home.directory, `making-${randomUUID()}`);
  await run(home, 'initdb', ['--pgdata', making, ...owner, ...text, ...LOGIN, '--no-sync']);
  rmSync(passwordFile);
  renameSync(making, home.cluster);
  const server = await startServer(home, access.port, settings);
  try {
    await createDatabases(access);
    writeAccess(dataDir, access);
    rmSync(home.unfinished, { force: true });
    return { access, server };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function createDatabases(access: EmbeddedAccess): Promise<void> {
  const client = new Client({ connectionString: maintenanceUrl(access) });
  await client.connect();
  try {
    await client.query('CREATE ROLE payout_proxy NOLOGIN');
    // CREATE ROLE takes no parameters. The passwords are base64url and need no escaping.
    await client.query(
      `CREATE ROLE payout_proxy_login LOGIN PASSWORD '${access.proxyPassword}' IN ROLE payout_proxy`,
    );
    await client.query(`CREATE ROLE sandbox LOGIN PASSWORD '${access.sandboxPassword}'`);
    await client.query('CREATE DATABASE payout_proxy');
    await client.query('CREATE DATABASE sandbox OWNER sandbox');
    await client.query('REVOKE CONNECT ON DATABASE payout_proxy, sandbox FROM PUBLIC');
    await client.query('GRANT CONNECT ON DATABASE payout_proxy TO payout_proxy_login');
  } finally {
    await client.end();
  }
}

/** Takes the lock that identifies the owner of the server. */
async function lockOwnership(home: Home, access: EmbeddedAccess): Promise<SessionLock | undefined> {
  return SessionLock.take(maintenanceUrl(access), LOCKS.embedded).catch((error: unknown) => {
    throw new StartError(
      `the embedded Postgres does not respond (${codeOf(error) ?? 'no answer'}). If no postgres process ` +
        `is running, delete ${join(home.cluster, 'postmaster.pid')}.`,
    );
  });
}

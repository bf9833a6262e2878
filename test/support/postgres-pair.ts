import { ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { prepareHome } from '../../src/platform/database/embedded/home';
import { findPort } from '../../src/platform/database/embedded/ports';
import { migrate, PROXY_MIGRATIONS } from '../../src/platform/database/migrations';
import { removeDataDir } from './data-dir';
import { signalServer } from './own-postgres';
import { eventually } from './paying';
import { TestDatabase } from './test-database';

/** The standby needs as many connections as the primary has. */
const FAST = ['fsync=off', 'full_page_writes=off', 'max_connections=200'];

/** A Postgres server with a standby, both of a test's own. */
export interface PostgresPair {
  /** On the primary. */
  database: TestDatabase;
  /** Stops every process of the standby, or lets them go on. */
  freezeStandby(): void;
  thawStandby(): void;
  /** Ends the standby at once. */
  killStandby(): Promise<void>;
  /** Promotes the standby once it has everything. The primary goes on. */
  promote(): Promise<TestDatabase>;
  /** Ends the primary. Starts the standby if it was killed, and promotes it. */
  failOver(): Promise<TestDatabase>;
  close(): Promise<void>;
}

/** @param standbyNames which standby the primary waits for. By default, the one that there is. Empty: none. */
export async function startPostgresPair(standbyNames = '*'): Promise<PostgresPair> {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-pair-'));
  chmodSync(dataDir, 0o755);
  let primary: EmbeddedPostgres | undefined = await startEmbeddedPostgres(dataDir, { settings: FAST });
  await migrate(primary.urls.owner, PROXY_MIGRATIONS);
  await primary.stop();
  const home = prepareHome(dataDir);
  const standbyFiles = join(home.directory, 'standby');
  execFileSync('cp', ['-a', home.cluster, standbyFiles]);
  const signal = join(standbyFiles, 'standby.signal');
  writeFileSync(signal, '');
  home.own(signal);
  const { owner } = primary.urls;
  const { hostname, port, username, password } = new URL(owner);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  appendFileSync(join(standbyFiles, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  rmSync(join(standbyFiles, 'postmaster.pid'), { force: true });
  const standbyPort = await findPort(0);
  let standby: ChildProcess;
  const startStandby = () => {
    const settings = [...FAST, 'unix_socket_directories='].flatMap((setting) => ['-c', setting]);
    standby = spawn(
      join(home.binaries, 'postgres'),
      ['-D', standbyFiles, '-p', String(standbyPort), '-h', '127.0.0.1', ...settings],
      { cwd: home.directory, env: { LC_ALL: 'C', TZ: 'UTC' }, stdio: 'ignore', ...home.user },
    );
  };
  startStandby();
  primary = await startEmbeddedPostgres(dataDir, { settings: [...FAST, `synchronous_standby_names=${standbyNames}`] });
  const { urls } = primary;
  const states = standbyNames === '' ? `'async'` : `'sync', 'quorum'`;
  const confirmed = `SELECT FROM pg_stat_replication WHERE sync_state IN (${states})`;
  await eventually(async () => (await query(urls.owner, confirmed)).length === 1);
  const killStandby = async () => {
    const ended = new Promise((resolve) => standby.once('close', resolve));
    signalServer(standby.pid ?? 0, 'SIGKILL');
    await ended;
  };
  const promote = async () => {
    const promoted = databaseAt({
      proxy: onPort(urls.proxy, standbyPort),
      owner: onPort(urls.owner, standbyPort),
      sandbox: onPort(urls.sandbox, standbyPort),
    });
    await eventually(() => promoted.query('SELECT pg_promote()').then(Boolean, () => false));
    return promoted;
  };
  return {
    database: databaseAt(urls),
    freezeStandby: () => signalServer(standby.pid ?? 0, 'SIGSTOP'),
    thawStandby: () => signalServer(standby.pid ?? 0, 'SIGCONT'),
    killStandby,
    promote: async () => {
      const all = `SELECT FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()`;
      await eventually(async () => (await query(urls.owner, all)).length === 1);
      return promote();
    },
    failOver: async () => {
      await primary?.stop();
      primary = undefined;
      if (standby.exitCode !== null || standby.signalCode !== null) {
        rmSync(join(standbyFiles, 'postmaster.pid'), { force: true });
        startStandby();
      }
      return promote();
    },
    close: async () => {
      await primary?.stop();
      if (standby.exitCode === null && standby.signalCode === null) await killStandby();
      removeDataDir(dataDir);
    },
  };
}

const onPort = (url: string, port: number) => Object.assign(new URL(url), { port: String(port) }).toString();

function databaseAt({ proxy, owner, sandbox }: EmbeddedPostgres['urls']): TestDatabase {
  return {
    url: proxy,
    ownerUrl: owner,
    sandboxUrl: sandbox,
    query: (sql, parameters) => query(owner, sql, parameters),
    asTemplate: () => Promise.reject(new Error('this server is not shared')),
    close: () => Promise.resolve(),
  };
}

/** Asks on a connection of its own, which does not wait for the standby. */
async function query<Row extends object>(url: string, sql: string, parameters: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url, options: '-c synchronous_commit=local' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}

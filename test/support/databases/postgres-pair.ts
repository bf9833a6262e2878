import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedUrls } from '../../../src/platform/database/embedded/access';
import { findPort } from '../../../src/platform/database/embedded/server';
import { eventually } from '../payments/paying';
import { removeDataDir } from '../processes/data-dir';
import { Cluster, makeCluster, PostgresServer } from './postgres-server';
import { TestDatabase } from './test-database';

const FAST = ['fsync=off', 'full_page_writes=off'];

/** A test's own Postgres server with a standby. A promotion makes the standby the primary. */
export class PostgresPair {
  private constructor(
    private readonly dataDir: string,
    private readonly cluster: Cluster,
    private readonly settings: string[],
    private readonly standbyNames: string,
    private primary: PostgresServer,
    private standby: PostgresServer,
  ) {}

  /**
   * @param standbyNames standbys that the primary waits for. By default, the existing one. Empty for none.
   * @param settings of both servers.
   */
  static async start(standbyNames = '*', settings = FAST): Promise<PostgresPair> {
    const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-pair-'));
    chmodSync(dataDir, 0o755);
    const cluster = await makeCluster(dataDir, settings);
    const { home, urls } = cluster;
    const primary = new PostgresServer(home, home.cluster, Number(new URL(urls.owner).port));
    const standby = new PostgresServer(home, join(home.directory, 'standby'), await findPort(0));
    const pair = new PostgresPair(dataDir, cluster, settings, standbyNames, primary, standby);
    await pair.join();
    return pair;
  }

  /** The primary. */
  get database(): TestDatabase {
    return this.at(this.primary);
  }

  /** The same database on the read-only standby. */
  get replica(): TestDatabase {
    return this.at(this.standby);
  }

  freezePrimary(): void {
    this.primary.freeze();
  }

  thawPrimary(): void {
    this.primary.thaw();
  }

  /** Kills the primary. */
  killPrimary(): Promise<void> {
    return this.primary.kill();
  }

  freezeStandby(): void {
    this.standby.freeze();
  }

  thawStandby(): void {
    this.standby.thaw();
  }

  /** Kills the standby. */
  killStandby(): Promise<void> {
    return this.standby.kill();
  }

  /** Cancels commits' waits for the standby, which then warn and become visible. Resolves to their number. */
  async cancelWaits(): Promise<number> {
    const waits = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    return (await this.database.query(waits)).length;
  }

  /** Promotes the standby once it has caught up. The primary continues. */
  async promote(): Promise<TestDatabase> {
    const all = `SELECT FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()`;
    await eventually(async () => (await this.database.query(all)).length === 1);
    return this.promoteStandby();
  }

  /** Shuts down the primary, unless it was killed. Starts the standby if it was killed, and promotes it. */
  async failOver(): Promise<TestDatabase> {
    await this.primary.stop();
    if (!this.standby.isRunning) await this.standby.start(this.settings);
    const promoted = await this.promoteStandby();
    [this.primary, this.standby] = [this.standby, this.primary];
    return promoted;
  }

  /** Turns the server that is down after a failover into a standby. The primary restarts. */
  async rejoin(): Promise<void> {
    await this.primary.stop();
    await this.join();
  }

  async close(): Promise<void> {
    await Promise.all([this.primary.kill(), this.standby.kill()]);
    removeDataDir(this.dataDir);
  }

  /** Starts the primary, and a standby from a copy of its files. Resolves once the primary waits for it. */
  private async join(): Promise<void> {
    const { home, urls } = this.cluster;
    rmSync(this.standby.files, { recursive: true, force: true });
    execFileSync('cp', ['-a', this.primary.files, this.standby.files]);
    const signal = join(this.standby.files, 'standby.signal');
    writeFileSync(signal, '');
    home.own(signal);
    const { hostname, username, password } = new URL(urls.owner);
    const conninfo =
      `host=${hostname} port=${this.primary.port} user=${username} password=${password} ` +
      'application_name=standby';
    appendFileSync(join(this.standby.files, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
    await this.primary.start([...this.settings, `synchronous_standby_names=${this.standbyNames}`]);
    await this.standby.start(this.settings);
    const states = this.standbyNames === '' ? `'async'` : `'sync', 'quorum'`;
    const confirmed = `SELECT FROM pg_stat_replication WHERE sync_state IN (${states})`;
    await eventually(async () => (await this.database.query(confirmed)).length === 1);
  }

  private async promoteStandby(): Promise<TestDatabase> {
    const promoted = this.at(this.standby);
    await eventually(() => promoted.query('SELECT pg_promote()').then(Boolean, () => false));
    return promoted;
  }

  private at({ port }: PostgresServer): TestDatabase {
    return databaseAt(this.cluster.urls, port);
  }
}

/** A database with a new connection per query, without a wait for a standby. */
export function databaseAt({ proxy, owner, sandbox }: EmbeddedUrls, port: number): TestDatabase {
  const ownerUrl = onPort(owner, port);
  return {
    url: onPort(proxy, port),
    ownerUrl,
    sandboxUrl: onPort(sandbox, port),
    query: (sql, parameters) => queryAt(ownerUrl, sql, parameters),
    asTemplate: () => Promise.reject(new Error('this server is not shared')),
    close: () => Promise.resolve(),
  };
}

/** Returns the address of the same database on another port, such as that of a gate. */
export const onPort = (url: string, port: number) =>
  Object.assign(new URL(url), { port: String(port) }).toString();

/** Queries on a separate connection, without a wait for a standby. */
export async function queryAt<Row extends object>(
  url: string,
  sql: string,
  parameters: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url, options: '-c synchronous_commit=local' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}

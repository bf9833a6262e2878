import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { SessionUrls, sessionUrlOf } from '../../platform/database/pools/pools';
import { ServerClient } from '../../platform/database/servers/server-client';

const CONNECTION = {
  connectionTimeoutMillis: 5_000,
  // A step over a million transactions takes some seconds on a small machine. The limit allows ten times as
  // many on a busy one.
  statement_timeout: 600_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 60_000,
  // The connection is idle while the upstream is read, and holds the lock of the run.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'payout-proxy reconciliation',
};

/**
 * Planner settings, measured with a million transactions on each side. Hash joins of that size use files in a
 * few batches, which keeps the server's memory small. Estimates from a tenth of the usual sample suffice for
 * tables that are read a few times.
 */
const PLANNING = `
  SET timezone = 'UTC';
  SET work_mem = '64MB';
  SET hash_mem_multiplier = 2;
  SET temp_buffers = '32MB';
  SET jit = off;
  SET default_statistics_target = 10`;

/**
 * Interval in ms at which Postgres checks the client's connection during a query. It frees the locks of a
 * killed process soon, and not only after its longest query.
 */
const CHECK_MS = 500;

type Urls = Pick<RunningConfig, 'databaseOwnerUrl'> & SessionUrls;

/** Runs statements in sequence. */
export async function runAll(db: Client, statements: Prisma.Sql[]): Promise<void> {
  for (const statement of statements) await db.query(statement);
}

/** Opens a connection for one run. Its temporary tables belong to the connection and end with it. */
export async function connectForRun(settings: Urls): Promise<Client> {
  const url = sessionUrlOf(settings);
  const client = new ServerClient({ connectionString: url, ...CONNECTION });
  try {
    await client.connect();
    // As on all connections of the proxy.
    if (url === settings.databaseOwnerUrl) await client.query('SET ROLE payout_proxy');
    await client.query(PLANNING);
    await client.query(`SET client_connection_check_interval = ${CHECK_MS}`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Connection for the comparison of a run. Its lock marks the run as in progress for every instance, until the
 * connection ends for any reason.
 */
export class RunConnection {
  private readonly losing = new AbortController();

  private constructor(readonly client: Client) {
    client.once('end', () => this.losing.abort());
  }

  static async open(settings: RunningConfig): Promise<RunConnection> {
    return new RunConnection(await connectForRun(settings));
  }

  /** Aborted when the connection and its lock are lost. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /**
   * Locks the run, which marks it as in progress for every instance.
   * @returns false if another worker carries it out.
   */
  async lockRun(id: string): Promise<boolean> {
    const { rows } = await this.client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, $2)) AS taken',
      [id, LOCKS.run],
    );
    return rows[0]?.taken ?? false;
  }

  /** Ends the connection at once, even during a query. */
  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

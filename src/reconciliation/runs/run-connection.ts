import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';
import { connectForRun } from '../matching/connection';

/** Seeds that keep the keys of these locks apart. HELD in run-reader.ts looks for the second. */
const PERIOD_SEED = 7_070_005;
export const RUN_SEED = 7_070_006;

/**
 * The interval at which Postgres checks, during a query, that the client is still connected. It frees the locks of a
 * killed process soon, and not only when its longest query ends.
 */
const CHECK_MS = 500;

/**
 * The connection that a run compares on. Its locks tell every instance that the run is in progress. They end with the
 * connection, however that happens.
 */
export class RunConnection {
  private readonly losing = new AbortController();

  private constructor(readonly client: Client) {
    client.once('end', () => this.losing.abort());
  }

  static async open(settings: RunningConfig): Promise<RunConnection> {
    const connection = new RunConnection(await connectForRun(settings));
    try {
      await connection.client.query(`SET client_connection_check_interval = ${CHECK_MS}`);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Aborted when the connection and its locks are lost. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Reads the clock of the records, to the millisecond, which is the precision of a Date. */
  async now(): Promise<Date> {
    const { rows } = await this.client.query<{ now: Date }>(
      `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
    );
    return rows[0]?.now ?? new Date(); // There is one row.
  }

  /**
   * Locks the period.
   * @returns false if a run of the same period is in progress.
   */
  async lockPeriod({ from, to }: { from: Date; to: Date }): Promise<boolean> {
    return this.lock(`${from.toISOString()}/${to.toISOString()}`, PERIOD_SEED);
  }

  /**
   * Locks the run, which tells every instance that it is in progress. Take the lock before you record or continue the
   * run.
   */
  async lockRun(id: string): Promise<boolean> {
    return this.lock(id, RUN_SEED);
  }

  /** Ends the connection at once, even during a query. */
  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async lock(name: string, seed: number): Promise<boolean> {
    const { rows } = await this.client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, $2)) AS taken',
      [name, seed],
    );
    return rows[0]?.taken ?? false;
  }
}

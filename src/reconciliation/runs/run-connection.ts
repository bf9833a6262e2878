import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';
import { connectForRun } from '../matching/connection';

/** Seeds that keep the keys of these locks apart from each other; HELD, in run-reader.ts, looks for the second. */
const PERIOD_SEED = 7_070_005;
export const RUN_SEED = 7_070_006;

/**
 * How often Postgres looks, during a query, whether we are still there: a run whose process was killed is to be free for
 * another one soon, and not when its longest query ends.
 */
const CHECK_MS = 500;

/**
 * The connection that a run compares on. Its locks say that somebody is at work, on whichever instance, and end with it,
 * whatever way that happens.
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

  /** Aborted once the connection is gone, and the locks with it. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** By the clock of the records, to the millisecond, as a Date has it. */
  async now(): Promise<Date> {
    const { rows } = await this.client.query<{ now: Date }>(
      `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
    );
    return rows[0]?.now ?? new Date(); // there is one row
  }

  /** @returns false if a run of the same period is at work. */
  async lockPeriod({ from, to }: { from: Date; to: Date }): Promise<boolean> {
    return this.lock(`${from.toISOString()}/${to.toISOString()}`, PERIOD_SEED);
  }

  /** From now on everybody sees that this run is at work. To be held before the run is recorded, or goes on. */
  async lockRun(id: string): Promise<boolean> {
    return this.lock(id, RUN_SEED);
  }

  /** Ends at once, within a query too. */
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

import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';
import { connectForRun } from '../matching/connection';
import { LOCKS } from '../../platform/database/locks';

/**
 * The interval at which Postgres checks, during a query, that the client is still connected. It frees the lock of a
 * killed process soon, and not only when its longest query ends.
 */
const CHECK_MS = 500;

/**
 * The connection that a run compares on. Its lock tells every instance that the run is in progress. It ends with the
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

  /** Aborted when the connection and its lock are lost. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /**
   * Locks the run, which tells every instance that it is in progress.
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

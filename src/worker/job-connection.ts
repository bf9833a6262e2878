import { Client } from 'pg';
import { LOCKS } from '../platform/database/locks';
import { IDLE_CONNECTION } from '../platform/database/pools/pools';
import { ServerClient } from '../platform/database/servers/server-client';
import { Job, JOB_CHANNEL, JOBS } from '../platform/jobs/job';

const APPLICATION_NAME = 'payout-proxy worker';

/** Connection with the locks of this worker's jobs, which end with it. Receives notifications. */
export class JobConnection {
  private readonly losing = new AbortController();

  private constructor(private readonly client: Client) {
    client.once('end', () => this.losing.abort());
  }

  /** @param onNews receives the name of a job with new work. */
  static async open(url: string, onNews: (job: string) => void): Promise<JobConnection> {
    const client = new ServerClient({
      connectionString: url,
      ...IDLE_CONNECTION,
      application_name: APPLICATION_NAME,
    });
    const connection = new JobConnection(client);
    client.on('notification', ({ payload }) => onNews(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${JOB_CHANNEL}`);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return connection;
  }

  /** Aborted when the connection and its locks are lost. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** @returns false if another worker holds the job. */
  async take({ name, isShared }: Job): Promise<boolean> {
    const lock = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    const { rows } = await this.client.query<{ taken: boolean }>(`SELECT ${lock}($1, $2) AS taken`, [
      LOCKS.job,
      JOBS[name],
    ]);
    return rows[0]?.taken ?? false;
  }

  /** Releases the job. A failure closes the connection, which also ends the lock. */
  async give({ name, isShared }: Job): Promise<void> {
    const unlock = isShared ? 'pg_advisory_unlock_shared' : 'pg_advisory_unlock';
    await this.client.query(`SELECT ${unlock}($1, $2)`, [LOCKS.job, JOBS[name]]).catch(() => this.close());
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

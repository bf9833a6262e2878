import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';

const CONNECTION = {
  connectionTimeoutMillis: 5_000,
  // A million transactions take some seconds a step on a small machine; ten times as many, a busy one, and there is room left.
  statement_timeout: 600_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 60_000,
  // It is idle while the upstream is asked, and holds the lock of the period.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'payout-proxy reconciliation',
};

/**
 * Measured with a million transactions on each side. Hash joins of that size spill to files in a few batches; the server's
 * memory stays small.
 */
const PLANNING = `
  SET timezone = 'UTC'; SET work_mem = '64MB'; SET hash_mem_multiplier = 2; SET temp_buffers = '32MB'; SET jit = off`;

type Urls = Pick<RunningConfig, 'databaseUrl' | 'databaseOwnerUrl'>;

/** A connection of a run's own: the tables it sorts and joins in are the connection's, and go with it. */
export async function connectForRun({ databaseUrl, databaseOwnerUrl }: Urls): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl, ...CONNECTION });
  client.on('error', () => undefined); // whoever uses it gets an error of its own
  try {
    await client.connect();
    if (databaseUrl === databaseOwnerUrl) await client.query('SET ROLE payout_proxy'); // as all the proxy's connections do
    await client.query(PLANNING);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

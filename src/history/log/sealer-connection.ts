import { Client } from 'pg';
import { SessionUrls, sessionUrlOf } from '../../platform/database/pools';
import { requireReplication, WITH_WARNINGS } from '../../platform/database/replication';
import { ServerClient } from '../../platform/database/servers/server-client';
import { RunningConfig } from '../../platform/config/config';
import { codeOf } from '../../platform/errors/error-code';
import { PLANNING } from './sealing-sql';

const ROLE = 'payout_sealer';

const CONNECTION = {
  connectionTimeoutMillis: 5_000,
  // The first pass after a restart may read everything that a restored backup contains.
  statement_timeout: 60_000,
  query_timeout: 61_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  keepAlive: true,
  application_name: 'payout-proxy sealer',
  options: WITH_WARNINGS,
};

/** SQLSTATEs of a login that may not take the role, and of a role that does not exist. */
const NOT_GRANTED = ['42501', '22023'];

type Urls = Pick<RunningConfig, 'databaseSealerUrl' | 'databaseOwnerUrl'> & SessionUrls;

/** Connects as the role that may only add seals, with its own login or with any other login that may take the role. */
export async function connectSealer(settings: Urls): Promise<Client> {
  const { databaseSealerUrl, databaseOwnerUrl } = settings;
  const urls = databaseSealerUrl ? [databaseSealerUrl] : [...new Set([databaseOwnerUrl, sessionUrlOf(settings)])];
  for (const url of urls) {
    const client = await connectAs(ROLE, url);
    if (client) return client;
  }
  throw new Error(
    `No login of the proxy can become ${ROLE}. As an administrator, run GRANT ${ROLE} TO a login, and set DATABASE_SEALER_URL to that login.`,
  );
}

/** @returns undefined if the login may not take the role. */
async function connectAs(role: string, url: string): Promise<Client | undefined> {
  const client = new ServerClient({ connectionString: url, ...CONNECTION });
  requireReplication(client); // a checkpoint in the file must not be newer than the database after a failover
  try {
    await client.connect();
    await client.query(`SET ROLE ${role}; ${PLANNING}`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (NOT_GRANTED.includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

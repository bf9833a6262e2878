import { Client } from 'pg';
import { RunningConfig } from '../../config/config';

/** Stands in for the connection of comparisons until it is there. */
export async function connectForRun({ databaseUrl, databaseOwnerUrl }: RunningConfig): Promise<Client> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'payout-proxy reconciliation',
    ...(databaseUrl === databaseOwnerUrl && { options: '-c role=payout_proxy' }),
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

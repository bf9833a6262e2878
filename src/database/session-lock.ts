import { Client } from 'pg';

/**
 * Takes a lock of a database for as long as the connection that is returned, and so never for longer than this process
 * lives, whatever way it ends.
 * @param lock its number, any that nothing else in the database uses.
 * @returns undefined if somebody else holds it.
 */
export async function takeSessionLock(connectionString: string, lock: number): Promise<Client | undefined> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined); // the server was stopped by hand; whoever uses it reports that
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock]);
  if (rows[0]?.taken) return client;
  await client.end();
  return undefined;
}

import { Client, ClientConfig } from 'pg';

/**
 * Takes a lock of a database for as long as the connection that is returned, and so never for longer than this process
 * lives, whatever way it ends.
 * @param lock its number, or its two numbers, that nothing else in the database uses.
 * @returns undefined if somebody else holds it.
 */
export async function takeSessionLock(
  connection: string | ClientConfig,
  lock: number | [space: number, number: number],
): Promise<Client | undefined> {
  const client = new Client(connection);
  client.on('error', () => undefined); // the server was stopped by hand; whoever uses it reports that
  await client.connect();
  const [key, parameters] = typeof lock === 'number' ? ['$1', [lock]] : ['$1, $2', lock];
  try {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${key}) AS taken`, parameters);
    if (rows[0]?.taken) return client;
  } catch (error) {
    await client.end();
    throw error;
  }
  await client.end();
  return undefined;
}

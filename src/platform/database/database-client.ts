import { Client } from 'pg';
import { cannotReach } from './reach';
import { ServerClient } from './servers/server-client';

/**
 * Runs work on a connection of its own.
 * @throws StartError if the database cannot be reached.
 */
export async function withConnection<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new ServerClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    throw cannotReach(url, error);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

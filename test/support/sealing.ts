import { Client, ClientBase } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { connectSealer } from '../../src/history/log/sealer-connection';
import { Sealing } from '../../src/history/log/sealing';
import { eventually } from './paying';
import { TestDatabase } from './test-database';

/** A connection of the sealer's to a test's database. */
export function sealerClient({ ownerUrl, url }: TestDatabase): Promise<Client> {
  return connectSealer({ databaseSealerUrl: undefined, databaseOwnerUrl: ownerUrl, databaseUrl: url });
}

interface Queryable {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

/**
 * Adds stops, the smallest records.
 * @returns their IDs.
 */
export async function addStops(database: Queryable, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7());
  await database.query(`INSERT INTO stop (id, reason) SELECT id, 'a test' FROM unnest($1::uuid[]) id`, [ids]);
  return ids;
}

/** Seals all records. Transactions of other tests on the same server may delay it for a moment. */
export async function sealAll(sealing: Sealing, client: ClientBase): Promise<void> {
  await eventually(async () => {
    const { sealed } = await sealing.pass(client);
    return sealed === 0 && sealing.waits === 0;
  });
  await sealing.keepNotes(client);
}

import { Client } from 'pg';

/** As many as a statement makes anew within seconds. */
const AT_ONCE = 5_000;

/** Makes the search's entries of these calls anew, after something was taken away of what they are made of. */
export async function reindex(db: Client, callIds: string[]): Promise<void> {
  for (let from = 0; from < callIds.length; from += AT_ONCE) {
    await db.query('SELECT reindex_calls($1::uuid[])', [callIds.slice(from, from + AT_ONCE)]);
  }
}

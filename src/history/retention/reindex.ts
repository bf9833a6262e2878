import { Client } from 'pg';

/** As many as a statement makes anew within seconds. */
const AT_ONCE = 5_000;

/** That of index_calls(): while it is held, nobody puts back into the index what they have read before it was taken away. */
const INDEX_LOCK = 7_070_010;

/** Keeps the search's index from being written to until the transaction ends; searches wait for it. */
export async function lockIndex(db: Client): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock($1)', [INDEX_LOCK]);
}

/** Makes the search's entries of these calls anew, after something was taken away of what they are made of. */
export async function reindex(db: Client, callIds: string[]): Promise<void> {
  for (let from = 0; from < callIds.length; from += AT_ONCE) {
    await db.query('SELECT reindex_calls($1::uuid[])', [callIds.slice(from, from + AT_ONCE)]);
  }
}

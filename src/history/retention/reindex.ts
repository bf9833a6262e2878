import { Client } from 'pg';
import { indexAll, indexBatch, IndexState } from '../../journal/lookups/search-index';
import { LOCKS } from '../../platform/database/locks';

/** Entries that a statement rebuilds within seconds. */
const STATEMENT_BATCH = 5_000;

/** Locks the search index against writes until the transaction ends. Searches wait for it. */
export async function lockIndex(db: Client): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.searchIndex]);
}

/** Rebuilds the search entries of these calls after some of their data was removed. */
export async function reindex(db: Client, callIds: string[]): Promise<void> {
  for (let from = 0; from < callIds.length; from += STATEMENT_BATCH) {
    await db.query('SELECT reindex_calls($1::uuid[])', [callIds.slice(from, from + STATEMENT_BATCH)]);
  }
}

/** Indexes everything that has committed. */
export async function catchUp(db: Client): Promise<void> {
  const batch = () => indexBatch(async (sql, values) => (await db.query<IndexState>(sql, values)).rows);
  while ((await indexAll(batch)).state !== 'done') await db.query('SELECT build_search_indexes()');
}

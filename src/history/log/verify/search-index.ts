import { Ask } from '../tree-store';
import { LogFault, placeOf } from './fault';

/** What was younger when this transaction saw the records, however long ago, may not have been indexed by then. */
const INDEXED_AFTER = 'transaction_timestamp() - make_interval(secs => $1)';

/** Each finds a call that the search would not find as it is. The index only finds: what is shown is read from the records. */
const CHECKS = [
  {
    table: 'intent',
    sql: `SELECT t.id::text AS id FROM public.intent t WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
      SELECT FROM public.search_entry e WHERE e.call_id = t.id AND e.client_id = t.client_id AND e.operation = t.operation
        AND e.total_usd IS NOT DISTINCT FROM t.total_usd) ORDER BY t.id LIMIT 1`,
  },
  {
    table: 'refusal',
    sql: `SELECT t.id::text AS id FROM public.refusal t WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
      SELECT FROM public.search_entry e WHERE e.call_id = t.id AND e.client_id = t.client_id) ORDER BY t.id LIMIT 1`,
  },
  {
    table: 'intent_item',
    sql: `SELECT n.intent_id::text AS id FROM public.intent_item n JOIN public.intent t ON t.id = n.intent_id
      WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
        SELECT FROM public.search_entry e WHERE e.call_id = n.intent_id AND e.position = n.position
          AND e.country IS NOT DISTINCT FROM n.country AND e.item_usd IS NOT DISTINCT FROM n.amount_usd)
      ORDER BY n.intent_id LIMIT 1`,
  },
  {
    table: 'search_entry',
    sql: `SELECT e.call_id::text AS id FROM public.search_entry e
      WHERE NOT EXISTS (SELECT FROM public.intent t WHERE t.id = e.call_id)
        AND NOT EXISTS (SELECT FROM public.refusal t WHERE t.id = e.call_id) AND $1::float8 >= 0
      ORDER BY e.call_id LIMIT 1`,
  },
];

/**
 * Whether the search finds what the records say: what is not found there is as good as deleted.
 * @param delaySeconds how old a record is that it must have.
 */
export async function checkSearchIndex(ask: Ask, delaySeconds: number): Promise<void> {
  for (const { table, sql } of CHECKS) {
    const [row] = await ask<{ id: string }>(sql, [delaySeconds]);
    if (!row) continue;
    const meaning =
      'The search index does not match the records. Somebody changed it, so searches return wrong results. ' +
      'The records are right; as the owner of the database, SELECT rebuild_search_index() makes the index anew.';
    throw new LogFault('search_index_differs', meaning, placeOf(table, row.id));
  }
}

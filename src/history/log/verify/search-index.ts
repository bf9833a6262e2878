import { Ask } from '../tree-store';
import { LogFault, placeOf } from './fault';

/** Records younger than this, when the transaction saw them, may not have been indexed yet. */
const INDEXED_AFTER = 'transaction_timestamp() - make_interval(secs => $1)';

/**
 * Each check finds a call that the search would miss. The index only finds calls. Their content is read from the
 * records.
 */
const CHECKS = [
  {
    table: 'intent',
    sql: `SELECT t.id::text AS id FROM public.intent t WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
      SELECT FROM public.indexed_call e WHERE e.call_id = t.id AND e.client_id = t.client_id AND e.operation = t.operation
        AND e.total_usd IS NOT DISTINCT FROM t.total_usd AND cardinality(e.item_usd) = t.item_count) ORDER BY t.id LIMIT 1`,
  },
  {
    table: 'refusal',
    sql: `SELECT t.id::text AS id FROM public.refusal t WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
      SELECT FROM public.indexed_call e WHERE e.call_id = t.id AND e.client_id = t.client_id) ORDER BY t.id LIMIT 1`,
  },
  {
    table: 'intent_item',
    sql: `SELECT n.intent_id::text AS id FROM public.intent_item n JOIN public.intent t ON t.id = n.intent_id
      WHERE t.recorded_at < ${INDEXED_AFTER} AND NOT EXISTS (
        SELECT FROM public.indexed_call e
        JOIN public.indexed_item i ON i.call_id = e.call_id AND i.usd = coalesce(n.amount_usd, -1)
        WHERE e.call_id = n.intent_id AND e.item_usd[n.position + 1] IS NOT DISTINCT FROM n.amount_usd
          AND strpos(e.payouts[n.position + 2], coalesce(E'\\ncountry:' || nullif(left(n.country, 200), ''), '')) > 0)
      ORDER BY n.intent_id LIMIT 1`,
  },
  {
    table: 'search_entry',
    sql: `SELECT e.call_id::text AS id FROM public.indexed_call e
      WHERE NOT EXISTS (SELECT FROM public.intent t WHERE t.id = e.call_id)
        AND NOT EXISTS (SELECT FROM public.refusal t WHERE t.id = e.call_id) AND $1::float8 >= 0
      ORDER BY e.call_id LIMIT 1`,
  },
];

/**
 * Checks that the search finds every record. A call that cannot be found is as good as deleted. An index that is being
 * rebuilt is not checked, because nobody can search it.
 * @param delaySeconds the age from which a record must be indexed.
 */
export async function checkSearchIndex(ask: Ask, delaySeconds: number): Promise<void> {
  const [index] = await ask<{ progress: number }>('SELECT public.search_progress() AS progress', []);
  if (index?.progress !== 1) return;
  for (const { table, sql } of CHECKS) {
    const [row] = await ask<{ id: string }>(sql, [delaySeconds]);
    if (!row) continue;
    const meaning =
      'The search index does not match the records. Somebody changed it, so searches return wrong results. ' +
      'The records are right; as the owner of the database, SELECT rebuild_search_index() makes the index anew.';
    throw new LogFault('search_index_differs', meaning, placeOf(table, row.id));
  }
}

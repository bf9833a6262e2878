import { texts } from './literals';

/** Status words that were seen (upstream-observed.md), in lower case. */
const MOVED = ['paid', 'redeemed', 'successful', 'success', 'completed', 'complete', 'sent'];
const NOT_MOVED = ['unpaid', 'failed', 'expired', 'cancelled', 'canceled', 'fraud', 'reversed', 'refunded', 'deleted'];
/** Not final: they contradict nothing, and alone count as moved. */
const OPEN = ['pending', 'processing'];

/**
 * What a status word says of the money: `moved`, `not`, `open`, or `odd` for a word that nobody knows. No word at all is
 * what statements without such a column have: they list what was paid.
 */
export function statusClass(word: string): string {
  const lower = `lower(btrim(${word}))`;
  return `CASE WHEN coalesce(btrim(${word}), '') = '' THEN 'moved' WHEN ${lower} IN (${texts(MOVED)}) THEN 'moved'
    WHEN ${lower} IN (${texts(NOT_MOVED)}) THEN 'not' WHEN ${lower} IN (${texts(OPEN)}) THEN 'open' ELSE 'odd' END`;
}

import { wordsOf } from '../../gateway/upstream/status-words';
import { texts } from './literals';

/**
 * Returns SQL that tells what a status word means for the totals of a run: `moved`, `not`, `open`, or `odd` for a word
 * that is not recognised. Statements without a status column list what was paid, so a missing word counts as `moved`.
 * An `open` word is not final. It contradicts nothing, and counts as moved if the transaction has no payment of ours.
 */
export function statusClass(word: string): string {
  const lower = `lower(btrim(${word}))`;
  return `CASE WHEN coalesce(btrim(${word}), '') = '' THEN 'moved' WHEN ${lower} IN (${texts(wordsOf('moved'))}) THEN 'moved'
    WHEN ${lower} IN (${texts(wordsOf('not_moved', 'unpaid'))}) THEN 'not'
    WHEN ${lower} IN (${texts(wordsOf('pending'))}) THEN 'open' ELSE 'odd' END`;
}

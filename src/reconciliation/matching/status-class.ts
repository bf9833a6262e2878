import { StatusVocabulary } from '../../operations/statuses';
import { texts } from './literals';

/**
 * Returns SQL that tells what a status word means for the totals of a run: `moved`, `not`, `open`, or `odd` for a word
 * that is not recognised. Statements without a status column list what was paid, so a missing word counts as `moved`.
 * An `open` word is not final. It contradicts nothing, and counts as moved if the transaction has no payment of ours.
 */
export function statusClass(word: string, vocabulary: StatusVocabulary): string {
  const plain = `lower(btrim(${word}))`;
  const moved = vocabulary.wordsOf('paid', 'redeemed');
  const not = vocabulary.wordsOf('unpaid', 'failed', 'expired', 'reversed', 'refunded');
  return `CASE WHEN coalesce(${plain}, '') = '' OR ${plain} IN (${texts(moved)}) THEN 'moved' WHEN ${plain} IN (${texts(not)}) THEN 'not'
    WHEN ${plain} IN (${texts(vocabulary.wordsOf('pending'))}) THEN 'open' ELSE 'odd' END`;
}

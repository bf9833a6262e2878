import { plainWord } from '../../operations/statuses';
import { Lookup, Rules, Seen, SentCall, Verdict } from './calls-in-doubt';
import { Listing } from './batches';
import { evidenceOf } from './evidence';
import { CHANGED_BY, CREATED_BY } from '../../operations/effects';
import { Change } from '../../operations/row';
import { isListedSince, quietUntil } from './facts';

/** The words for a transaction that was not redeemed. Others, such as `completed`, may mean that it was. */
const NOT_REDEEMED: readonly string[] = ['unpaid', 'paid', 'successful', 'success'];

/** Whether the status of a transaction shows that it was not deleted or redeemed. */
const UNTOUCHED: Record<Change, (seen: Seen) => boolean> = {
  deleted: ({ meaning }) => meaning === 'paid' || meaning === 'redeemed' || meaning === 'unpaid',
  redeemed: ({ status }) => status !== null && NOT_REDEEMED.includes(plainWord(status)),
};

/**
 * Judges a call in doubt that deletes or redeems a transaction.
 * @param lookup undefined if our records do not know the transaction's ID.
 * @param others our other calls that should have made the same change.
 * @returns undefined as long as more information may arrive.
 */
export function judgeChange(
  call: SentCall,
  lookup: Lookup | undefined,
  listing: Listing,
  others: string[],
  rules: Rules,
): Verdict | undefined {
  const change = CHANGED_BY.get(call.operation);
  if (!change) return undefined;
  const evidence = evidenceOf(lookup ? [listing.readId, lookup.readId] : [], lookup?.seen ? [lookup.seen] : [], others);
  if (!lookup) {
    return ambiguous(
      'Our records do not contain the transaction that this call names, so the proxy cannot look it up.',
    );
  }
  const { seen, askedAt, madeBy } = lookup;
  if (seen === null && change === 'deleted' && others.length === 0 && listing.missing === 0) {
    const reason =
      'The upstream no longer has the transaction that this call deletes, and no other call of ours deletes it.';
    return { verdict: 'confirmed', reason, evidence };
  }
  if (askedAt.getTime() < quietUntil(call, rules)) return undefined;
  return afterQuiet();

  function afterQuiet(): Verdict {
    // The listing shows how recent the data is, by other transactions of this kind.
    const kind = madeBy === null ? undefined : CREATED_BY.get(madeBy)?.name;
    const isFresh = kind !== undefined && isListedSince(listing, quietUntil(call, rules), kind);
    if (seen !== null && UNTOUCHED[change as Change](seen)) {
      if (!isFresh)
        return ambiguous(
          "The upstream's data may be older than this call. It lists no later call of the same kind yet.",
        );
      const reason = `The transaction that this call names was not ${change} at the end of the quiet period.`;
      return { verdict: 'not_executed', reason, evidence };
    }
    if (others.length > 0) return ambiguous('Another call of ours may have made this change. "calls" lists it.');
    return ambiguous("The upstream's data about the transaction does not show whether this call changed it.");
  }

  function ambiguous(reason: string): Verdict {
    return { verdict: 'ambiguous', reason, evidence };
  }
}

/**
 * Returns the verdict about a call without anything to look for in the upstream's data.
 * @param settled the positions of its payouts whose outcome is known.
 */
export function unrecognisable({ operation, settled }: { operation: string; settled: ReadonlySet<number> }): Verdict {
  const evidence = evidenceOf([], [], []);
  if (settled.size > 0) {
    const reason = "The upstream's answer is an error, but names the transaction of each payout and its status.";
    return { verdict: 'confirmed', reason, evidence, entries: [] };
  }
  const reason = `The upstream's data does not identify calls of ${operation}. A person must settle this call.`;
  return { verdict: 'ambiguous', reason, evidence };
}

import { Decimal } from 'decimal.js';
import { LedgerItem } from '../../journal/ledger';
import { NewEntry, TransactionEvidence } from '../../journal/records';
import { Created } from '../../operations/effects';
import { countableFee, ENTRIES, Entry, entryOf } from '../../operations/settlement';
import { Status } from '../../operations/statuses';

/** A transaction of one of our payouts, as the upstream lists it now. */
export interface ListedPayout {
  position: number;
  meaning: Status | undefined;
  feeUsd: Decimal | null;
  transaction: TransactionEvidence;
}

/** Why a listed status changes nothing about a payout. The first rule that holds decides. */
interface Exception {
  name: string;
  holds: (item: LedgerItem, listed: ListedPayout, entry: Entry) => boolean;
}

export const EXCEPTIONS: readonly Exception[] = [
  { name: 'nothing new', holds: (item, _listed, entry) => item.entry === entry },
  // The word is listed for operators, who can give it a meaning (UPSTREAM_STATUS_WORDS).
  { name: 'a word never heard of', holds: (_item, _listed, entry) => !ENTRIES[entry].known },
  // A list that lags must not undo what is known.
  { name: 'an older word', holds: (item, _listed, entry) => entry === 'pending' && ENTRIES[item.entry].known },
  // A person has decided with this word in view. Only another word is news.
  {
    name: 'seen by a person',
    holds: (item, { transaction }) =>
      item.postings.findLast(({ entry }) => entry !== 'fee')?.source === 'person' &&
      (item.transaction === null || item.transaction.status === transaction.status),
  },
];

/** Returns the entries that follow from what the upstream lists about a payout. */
export function changesOf(item: LedgerItem, listed: ListedPayout, created: Created | undefined): NewEntry[] {
  const entry = entryOf(listed.meaning, created);
  const { position, transaction } = listed;
  const isChange = !EXCEPTIONS.some(({ holds }) => holds(item, listed, entry));
  return [...(isChange ? [{ position, entry, transaction }] : []), ...feeOf(item, listed)];
}

/** A fee may be charged later, or be given back. */
function feeOf({ feeUsd: before }: LedgerItem, { position, feeUsd: listed, transaction }: ListedPayout): NewEntry[] {
  const feeUsd = listed?.isZero() ? listed : countableFee(listed);
  if (feeUsd === null || feeUsd.eq(before)) return [];
  return [{ position, entry: 'fee', amountUsd: feeUsd.minus(before), transaction }];
}

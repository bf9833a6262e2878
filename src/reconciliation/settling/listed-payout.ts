import { Decimal } from 'decimal.js';
import { NewEntry, TransactionEvidence } from '../../journal/records/records';
import { LedgerItem } from '../../journal/settlement/ledger';
import { CreationRules } from '../../operations/items/effects';
import { countableFee, ENTRIES, Entry, entryOf } from '../../operations/lifecycle/settlement';
import { Status } from '../../operations/lifecycle/statuses';

/** A transaction of one of our payouts in the upstream's current listing. */
export interface ListedPayout {
  position: number;
  meaning: Status | undefined;
  feeUsd: Decimal | null;
  transaction: TransactionEvidence;
}

/** A reason why a listed status changes nothing about a payout. The first one that holds decides. */
interface IgnoreRule {
  name: string;
  holds: (item: LedgerItem, listed: ListedPayout, entry: Entry) => boolean;
}

export const IGNORE_RULES: readonly IgnoreRule[] = [
  { name: 'nothing new', holds: (item, _listed, entry) => item.entry === entry },
  // Operators find the status in a list and can define it (UPSTREAM_STATUS_WORDS).
  { name: 'an unknown status', holds: (_item, _listed, entry) => !ENTRIES[entry].known },
  // A lagging list must not undo known outcomes.
  {
    name: 'an older status',
    holds: (item, _listed, entry) => entry === 'pending' && ENTRIES[item.entry].known,
  },
  // The person settled the payout with this status in view. Only another status is new.
  {
    name: 'settled by a person',
    holds: (item, { transaction }) =>
      item.postings.findLast(({ entry }) => entry !== 'fee')?.source === 'person' &&
      (item.transaction === null || item.transaction.status === transaction.status),
  },
];

/** Returns the new entries of a payout by its current listing. */
export function changesOf(
  item: LedgerItem,
  listed: ListedPayout,
  created: CreationRules | undefined,
): NewEntry[] {
  const entry = entryOf(listed.meaning, created);
  const { position, transaction } = listed;
  const isChange = !IGNORE_RULES.some(({ holds }) => holds(item, listed, entry));
  return [...(isChange ? [{ position, entry, transaction }] : []), ...feeOf(item, listed)];
}

/** Returns the entry of a changed fee. A fee may be charged later, or be refunded. */
function feeOf(
  { feeUsd: before }: LedgerItem,
  { position, feeUsd: listed, transaction }: ListedPayout,
): NewEntry[] {
  const feeUsd = listed?.isZero() ? listed : countableFee(listed);
  if (feeUsd === null || feeUsd.eq(before)) return [];
  return [{ position, entry: 'fee', amountUsd: feeUsd.minus(before), transaction }];
}

import { Decimal } from 'decimal.js';
import { ChargedFee } from '../../journal/admission/expected-fees';
import { NewEntry, NewSettlement, TransactionEvidence } from '../../journal/records/records';
import { LedgerItem } from '../../journal/settlement/ledger';
import { hasDoubt, SettledCall } from '../../journal/settlement/settled-call';
import { CREATED_BY } from '../../operations/items/effects';
import { countableFee, ENTRIES, Entry, entryOf, Source } from '../../operations/lifecycle/settlement';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';

/** News about the transaction of a payout: a change of it, or its attribution. */
export interface PayoutNews {
  callId: string;
  position: number;
  /** ID of the transaction in the book. */
  id: string;
  /** The rule that attributes it now. Null if the payout has it already. */
  ground: string | null;
  readId: string;
  ordinal: string;
  status: string | null;
  /** In US dollars. */
  amount: string | null;
  fee: string | null;
  transaction: TransactionEvidence;
}

/** The circumstances of the news. */
export interface NewsContext {
  /** Source of the settlement, unless the payout is in doubt. */
  source: Extract<Source, 'poll' | 'event' | 'reconciliation'>;
  /**
   * Whether the listed status of a call in doubt is final. A failed payout gives its amount back, so it is
   * not settled before.
   */
  isQuiet: (callId: string) => boolean;
  vocabulary: StatusVocabulary;
}

const REASONS: Record<NewsContext['source'] | 'resolver', string> = {
  poll: 'The upstream lists the payout with this status now.',
  event: 'The upstream announced a change, and states this status when asked.',
  reconciliation: 'A reconciliation run found that the upstream lists the payout with this status.',
  resolver: 'The upstream lists the transaction of this payout, and no other payout of ours has it.',
};

/**
 * Returns the settlement of a call by news about its payouts, and the news that it takes into account. Other
 * news waits for the next reading.
 */
export function settlementOf(
  call: SettledCall,
  news: readonly PayoutNews[],
  context: NewsContext,
): { settlement: NewSettlement | undefined; applied: PayoutNews[] } {
  // Its answer may still come, and names its transactions.
  if (!call.outcome && !call.isInDoubt) return { settlement: undefined, applied: [] };
  const created = CREATED_BY.get(call.intent.operation);
  const applied: PayoutNews[] = [];
  const entries = news.flatMap((one) => {
    const item = call.items[one.position];
    if (!item) return [];
    const entry = entryOf(context.vocabulary.statusOf(one.status), created);
    const isOpen = !ENTRIES[item.entry].known;
    if (isOpen && !ENTRIES[entry].counts && !context.isQuiet(call.intent.id)) return [];
    applied.push(one);
    return entriesBy(item, one, entry);
  });
  if (entries.length === 0) return { settlement: undefined, applied };
  const source = call.isInDoubt || hasDoubt(call) ? 'resolver' : context.source;
  const reads = [...new Set(applied.map(({ readId }) => readId))];
  const evidence = { reads, calls: [] };
  return {
    settlement: { intentId: call.intent.id, source, reason: REASONS[source], entries, evidence },
    applied,
  };
}

/** A reason why a listed status changes nothing about a payout. The first one that holds decides. */
interface IgnoreRule {
  name: string;
  holds: (item: LedgerItem, news: PayoutNews, entry: Entry) => boolean;
}

export const IGNORE_RULES: readonly IgnoreRule[] = [
  { name: 'nothing new', holds: (item, _news, entry) => item.entry === entry },
  // Operators find the status in a list and can define it (UPSTREAM_STATUS_WORDS).
  { name: 'an unknown status', holds: (_item, _news, entry) => !ENTRIES[entry].known },
  // A lagging list must not undo known outcomes. Without a transaction, nothing was known to be done.
  {
    name: 'an older status',
    holds: (item, _news, entry) =>
      entry === 'pending' && ENTRIES[item.entry].known && item.entry !== 'not_executed',
  },
  // The person settled the payout with this status in view. Only another status is new.
  {
    name: 'settled by a person',
    holds: (item, { transaction }) =>
      item.postings.findLast(({ entry }) => entry !== 'fee')?.source === 'person' &&
      (item.transaction === null || item.transaction.status === transaction.status),
  },
];

/** Returns the entries of a payout by the news. */
export function entriesBy(item: LedgerItem, news: PayoutNews, entry: Entry): NewEntry[] {
  return [...entryFor(item, news, entry), ...feeOf(item, news)];
}

/**
 * Returns the entry by the status of a transaction. An attribution is recorded even if the status is not new.
 */
function entryFor(item: LedgerItem, news: PayoutNews, entry: Entry): NewEntry[] {
  const { position, transaction } = news;
  const isChange = !IGNORE_RULES.some(({ holds }) => holds(item, news, entry));
  if (isChange) return [{ position, entry, transaction }];
  return news.ground !== null && ENTRIES[item.entry].known
    ? [{ position, entry: item.entry, transaction }]
    : [];
}

/** Returns the entry of a changed fee. A fee may be charged later, or be refunded. */
export function feeOf(
  { feeUsd: before }: LedgerItem,
  { position, fee, transaction }: Pick<PayoutNews, 'position' | 'fee' | 'transaction'>,
): NewEntry[] {
  const listed = fee === null ? null : new Decimal(fee);
  const feeUsd = listed?.isZero() ? listed : countableFee(listed);
  if (feeUsd === null || feeUsd.eq(before)) return [];
  return [{ position, entry: 'fee', amountUsd: feeUsd.minus(before), transaction }];
}

/** Returns the fees of the payouts after these entries. */
export function chargedBy(entries: readonly NewEntry[], { items }: SettledCall): ChargedFee[] {
  return entries.flatMap(({ position, entry, amountUsd: more }) => {
    const item = items[position];
    return entry === 'fee' && item && more
      ? [{ amountUsd: item.amountUsd, feeUsd: item.feeUsd.plus(more) }]
      : [];
  });
}

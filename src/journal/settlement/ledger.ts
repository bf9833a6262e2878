import { Decimal } from 'decimal.js';
import { FeeRule, feeOf, readFeeRule } from '../../operations/items/fees';
import {
  Account,
  PayoutAmounts,
  ENTRIES,
  Entry,
  settlesItems,
  Source,
} from '../../operations/lifecycle/settlement';
import { IntentDocument, OutcomeDocument, EntryDocument, SettlementDocument } from '../records/documents';
import { TransactionEvidence } from '../records/records';

/** One movement of a payout's amount, or of its fee. */
export interface Posting {
  entry: Entry | 'fee';
  from: Account;
  to: Account;
  amountUsd: Decimal | null;
  /** The upstream's own word. Null without one. */
  status: string | null;
  source: Source;
  /** By the database's clock. */
  at: Date;
}

/** A payout of a call with its state and postings. */
export interface LedgerItem extends PayoutAmounts {
  position: number;
  /** The upstream's transaction. Null if unknown. */
  transaction: TransactionEvidence | null;
  /** Reason of its state, from a settlement. Null without one. */
  reason: string | null;
  /** Oldest first. */
  postings: Posting[];
}

/** The records that determine the state of a call's payouts. */
export interface LedgerRecords {
  intent: IntentDocument;
  outcome: OutcomeDocument | null;
  /** In the order of their numbers. */
  settlements: readonly SettlementDocument[];
}

/**
 * Returns the payouts of a call, in the order of its items. Empty if its items are no payouts.
 * See docs/internals/decisions/money/0033-a-ledger-for-each-payout.md.
 */
export function ledgerOf({ intent, outcome, settlements }: LedgerRecords): LedgerItem[] {
  if (!settlesItems(intent.operation)) return [];
  const rate = intent.expected_fee === undefined ? undefined : readFeeRule(intent.expected_fee);
  const items = (intent.items ?? []).map((item, position) =>
    newItem(position, item.amount_usd, intent, rate),
  );
  if (outcome) addAnswer(items, outcome);
  for (const settlement of settlements) {
    for (const entry of settlement.entries) {
      const item = items[entry.position];
      if (item) addEntry(item, entry, settlement);
    }
  }
  return items;
}

function newItem(
  position: number,
  amount: string | undefined,
  { recorded_at }: IntentDocument,
  rate: FeeRule | undefined,
): LedgerItem {
  const amountUsd = amount === undefined ? null : new Decimal(amount);
  return {
    position,
    amountUsd,
    entry: 'reserved',
    feeUsd: new Decimal(0),
    expectedFeeUsd: rate ? feeOf(amountUsd, rate) : new Decimal(0),
    transaction: null,
    reason: null,
    postings: [
      {
        entry: 'reserved',
        from: 'available',
        to: 'reserved',
        amountUsd,
        status: null,
        source: 'request',
        at: new Date(recorded_at),
      },
    ],
  };
}

function addAnswer(
  items: LedgerItem[],
  { entries, items: transactions = [], recorded_at }: OutcomeDocument,
): void {
  const at = new Date(recorded_at);
  const words = new Map(transactions.map(({ position, status }) => [position, status ?? null]));
  for (const item of items) {
    const entry = (typeof entries === 'string' ? entries : entries?.[item.position]) as Entry | undefined;
    if (entry === undefined) continue;
    item.entry = entry;
    const to = ENTRIES[entry].account;
    const status = words.get(item.position) ?? null;
    item.postings.push({
      entry,
      from: 'reserved',
      to,
      amountUsd: item.amountUsd,
      status,
      source: 'answer',
      at,
    });
  }
  for (const { position, fee_usd: fee, upstream_ref, upstream_id, batch_ref, status } of transactions) {
    const item = position === undefined ? undefined : items[position];
    if (!item) continue;
    item.transaction = {
      upstream_ref: upstream_ref ?? null,
      upstream_id: upstream_id ?? null,
      batch_ref: batch_ref ?? null,
      at: null,
      status: status ?? null,
    };
    if (namesTransaction(item.transaction)) item.expectedFeeUsd = new Decimal(0);
    if (fee === undefined) continue;
    item.feeUsd = new Decimal(fee);
    item.postings.push({
      entry: 'fee',
      from: 'available',
      to: 'fees',
      amountUsd: item.feeUsd,
      status: null,
      source: 'answer',
      at,
    });
  }
}

function addEntry(
  item: LedgerItem,
  entry: EntryDocument,
  { recorded_at, source, reason }: SettlementDocument,
): void {
  const amountUsd = entry.amount_usd === undefined ? null : new Decimal(entry.amount_usd);
  item.postings.push({
    entry: entry.entry as Posting['entry'],
    from: entry.from as Account,
    to: entry.to as Account,
    amountUsd,
    status: entry.status ?? null,
    source: source as Source,
    at: new Date(recorded_at),
  });
  if (entry.entry === 'fee' || namesTransaction(entry)) item.expectedFeeUsd = new Decimal(0);
  if (entry.entry === 'fee') {
    item.feeUsd = feeAfter(item.feeUsd, entry.to, amountUsd);
    return;
  }
  item.entry = entry.entry as Entry;
  item.reason = reason;
  // The transaction that was taken for its own is not.
  if (entry.entry === 'in_doubt') item.transaction = null;
  if (entry.upstream_ref === undefined && entry.upstream_id === undefined && entry.status === undefined)
    return;
  item.transaction = {
    upstream_ref: entry.upstream_ref ?? item.transaction?.upstream_ref ?? null,
    upstream_id: entry.upstream_id ?? item.transaction?.upstream_id ?? null,
    batch_ref: entry.batch_ref ?? item.transaction?.batch_ref ?? null,
    at: entry.at ?? null,
    status: entry.status ?? null,
  };
}

/** Returns whether a transaction, and so its fee, is known. A status alone may be the telco's. */
export function namesTransaction(
  transaction:
    | { upstream_ref?: string | null | undefined; upstream_id?: string | null | undefined }
    | null
    | undefined,
): boolean {
  return (transaction?.upstream_ref ?? transaction?.upstream_id ?? null) !== null;
}

/** Returns the fee of a payout after an entry that charges or refunds a part of it. */
export function feeAfter(before: Decimal, to: string, amountUsd: Decimal | null): Decimal {
  return to === 'fees' ? before.plus(amountUsd ?? 0) : before.minus(amountUsd ?? 0);
}

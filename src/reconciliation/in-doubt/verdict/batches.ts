import { CreationRules, CREATED_BY } from '../../../operations/items/effects';
import { Batch, Rules, ListedTransaction, SentCall } from '../calls-in-doubt';
import { Timetable } from '../timetable';
import { WalletStatements } from '../wallet-statements';
import { each, Work } from '../work';
import { timeOf } from './batch-match';
import { keysOfItem, keysOfTransaction, rarest, RelatedBatches } from './payments';

/**
 * Indexes the batches of a listing by payment, time and recipient. After an outage, thousands of calls in
 * doubt face thousands of transactions.
 */
export class Batches {
  /** The amounts of all transactions, and the earliest and latest time. */
  readonly amounts = new Set<string>();
  earliest = Infinity;
  latest = -Infinity;
  readonly related = new RelatedBatches();
  private readonly all = new Map<string, Batch>();
  /** Batches by their rarest transaction, which suffices because all must be items of the call. */
  private readonly payments = new Timetable<Batch>();

  private constructor(
    /** The operations whose transactions show the IDs that the proxy wrote into the requests. */
    readonly showsIdsOf: ReadonlySet<string>,
  ) {}

  static *of(listed: ListedTransaction[], showsIdsOf: ReadonlySet<string> = new Set()): Work<Batches> {
    const batches = new Batches(showsIdsOf);
    yield* each(listed, (transaction) => batches.add(transaction));
    const counts = new Map<string, number>();
    for (const batch of batches.all.values()) {
      batches.related.add(batch);
      if (batch.length > 1) countKeys(batch, counts);
      yield batch.length;
    }
    for (const batch of batches.all.values()) {
      batches.addPayment(batch, (key) => counts.get(key) ?? 0);
      yield batch.length;
    }
    return batches;
  }

  /** Finds the batches that could be all or part of a call, by one transaction's key and the call's time. */
  *like(call: SentCall, created: CreationRules, rules: Rules): Iterable<Batch> {
    const query = { least: 1, most: call.items.length, ...timeOf(call, rules) };
    const found = new Set<Batch>();
    for (const key of new Set(call.items.flatMap((item) => keysOfItem(item, created)))) {
      for (const batch of this.payments.overlapping(key, query)) {
        if (found.has(batch)) continue;
        found.add(batch);
        yield batch;
      }
    }
  }

  /** Returns whether any batch could relate to a call. */
  isRelatedTo({ operation, items }: SentCall): boolean {
    const created = CREATED_BY.get(operation);
    if (!created) return false;
    for (const item of items) {
      for (const _ of this.related.ofItem(item, created)) return true;
      for (const _ of this.related.ofRecipient(item, created)) return true;
    }
    return false;
  }

  /** Adds a transaction. Without a batch, it is its own batch. */
  private add(transaction: ListedTransaction): void {
    const { amountUsd, issuedAt, batchRef, ordinal } = transaction;
    const name = batchRef ?? `/${ordinal}`;
    const batch = this.all.get(name);
    if (batch) batch.push(transaction);
    else this.all.set(name, [transaction]);
    if (amountUsd !== null) this.amounts.add(amountUsd);
    if (issuedAt === null) return;
    this.earliest = Math.min(this.earliest, issuedAt.getTime());
    this.latest = Math.max(this.latest, issuedAt.getTime());
  }

  private addPayment(batch: Batch, count: (key: string) => number): void {
    const transaction = rarest(batch, count);
    if (!transaction || transaction.issuedAt === null) return; // Without a time, it could belong to any call.
    const at = transaction.issuedAt.getTime();
    for (const key of new Set(keysOfTransaction(transaction))) {
      this.payments.add(key, { size: batch.length, from: at, until: at }, batch);
    }
  }
}

function countKeys(batch: Batch, counts: Map<string, number>): void {
  for (const seen of batch)
    for (const key of keysOfTransaction(seen)) counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The transactions of the upstream's listing that our records do not assign to a call. */
export interface Listing {
  readId: string;
  /** Time at which the listing was requested. */
  requestedAt: Date;
  /** The transactions that certainly belong to no other call of ours. */
  unclaimed: Batches;
  /** Number of known transactions that the listing lacks. Above 0, it is incomplete. */
  missing: number;
  /** Issue time of the oldest listed transaction. The listing cannot show whether older ones were cut off. */
  oldest: Date | null;
  /**
   * For each kind of transaction, the time of our newest call whose transaction the listing shows with a
   * plausible time. For this kind, the listing is at least that recent. A kind without such a call is
   * missing. Later airtime proves nothing about mobile money, which the upstream may list later.
   */
  freshUntil: ReadonlyMap<string, Date>;
  /** The wallets, read after the listing. Undefined if no conclusion depends on them or reading failed. */
  wallets?: WalletStatements | undefined;
}

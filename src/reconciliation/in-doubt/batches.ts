import { Rules, Seen, SentCall, Wanted } from './calls-in-doubt';
import { Created, CREATED_BY, isOtherType } from '../../operations/effects';
import { keysOfItem, keysOfSeen, referenceKey, Timetable } from './payments';
import { haveKindInCommon, looseKey } from './recipients';
import { each, Work } from './work';

/** The transactions of one batch. One request creates one batch (docs/reference/upstream.md, "Identifiers"). */
export type Batch = Seen[];

/**
 * Indexes the batches of a listing by the recipients they name. After an outage, thousands of calls in doubt meet
 * thousands of transactions.
 */
export class Batches {
  /** The amounts of all transactions, and the earliest and latest time. */
  readonly amounts = new Set<string>();
  earliest = Infinity;
  latest = -Infinity;
  private readonly all = new Map<string, Batch>();
  private readonly byName = new Map<string, Set<Batch>>();
  /** Batches with a transaction that names nobody, or names somebody incompletely. */
  private readonly unnamed = new Set<Batch>();
  /** By type, and by the kinds of names that a transaction has, such as email or phone number. */
  private readonly alike = new Map<string, { type: string | null; names: string[]; batches: Set<Batch> }>();
  /**
   * By the payment of their first transaction. Each transaction of a batch must be an item of its call, so the first
   * one suffices.
   */
  private readonly payments = new Timetable<Batch>();

  private constructor() {}

  static *of(seen: Seen[]): Work<Batches> {
    const batches = new Batches();
    yield* each(seen, (one) => batches.add(one));
    yield* each(batches.all.values(), (batch) => batches.addPayment(batch));
    batches.payments.sort();
    return batches;
  }

  /**
   * Finds the batches that could be all or part of a call, by one transaction of each: within the call's time, and by
   * the same keys.
   */
  *like({ items, sentFrom, sentUntil }: SentCall, created: Created, { skewMs, quietMs }: Rules): Iterable<Batch> {
    const from = sentFrom.getTime() - skewMs;
    const to = sentUntil.getTime() + quietMs + skewMs;
    const found = new Set<Batch>();
    for (const key of new Set(items.flatMap((item) => keysOfItem(item, created)))) {
      for (const batch of this.payments.between(key, from, to)) {
        if (found.has(batch)) continue;
        found.add(batch);
        yield batch;
      }
    }
  }

  /** Finds all batches that could be related to a call. */
  *about({ operation, items }: SentCall): Iterable<Batch> {
    const found = new Set<Batch>();
    for (const batches of this.setsAbout(operation, items)) {
      for (const batch of batches) {
        if (found.has(batch)) continue;
        found.add(batch);
        yield batch;
      }
    }
  }

  /** Whether any batch could be related to a call. */
  hasAbout(call: SentCall): boolean {
    for (const _ of this.about(call)) return true;
    return false;
  }

  private *setsAbout(operation: string, items: Wanted[]): Iterable<Iterable<Batch>> {
    if (items.some(({ names }) => names.length === 0)) {
      yield this.all.values();
      return;
    }
    for (const item of items) {
      for (const name of [...item.names.map(looseKey), referenceKey(item.reference ?? '')]) {
        yield this.byName.get(name) ?? [];
      }
    }
    yield this.unnamed;
    const created = CREATED_BY.get(operation);
    for (const { type, names, batches } of this.alike.values()) {
      const isOther = created !== undefined && isOtherType(type, created);
      if (!isOther && items.some((item) => !haveKindInCommon(item.names, names))) yield batches;
    }
  }

  /** A transaction without a batch is a batch of its own. */
  private add(one: Seen): void {
    const { type, names, references, amountUsd, issuedAt } = one;
    const batch = added(this.all, one.batchRef ?? `/${one.ordinal}`, one);
    if (names.length === 0) this.unnamed.add(batch);
    const kinds = names.map((name) => name.slice(0, 2)).sort();
    const key = [type?.toLowerCase() ?? null, ...kinds].join(' ');
    const like = this.alike.get(key) ?? { type, names, batches: new Set<Batch>() };
    this.alike.set(key, like);
    like.batches.add(batch);
    for (const name of [...names.map(looseKey), ...references.map(referenceKey)]) {
      const known = this.byName.get(name);
      if (known) known.add(batch);
      else this.byName.set(name, new Set([batch]));
    }
    if (amountUsd !== null) this.amounts.add(amountUsd);
    if (issuedAt === null) return;
    this.earliest = Math.min(this.earliest, issuedAt.getTime());
    this.latest = Math.max(this.latest, issuedAt.getTime());
  }

  private addPayment(batch: Batch): void {
    const [first] = batch;
    if (!first || first.issuedAt === null) return; // Without a time, it could belong to any call.
    for (const key of new Set(keysOfSeen(first))) this.payments.add(key, first.issuedAt.getTime(), batch);
  }
}

/** The transactions of the upstream's listing that our records do not assign to a call. */
export interface Listing {
  readId: string;
  /** When the listing was requested. */
  askedAt: Date;
  /** The transactions that certainly belong to no other call of ours. */
  unclaimed: Batches;
  /** How many known transactions the listing lacks. If there are any, it is not complete. */
  missing: number;
  /** When the oldest listed transaction was issued. The listing cannot show whether older transactions were cut off. */
  oldest: Date | null;
  /**
   * For each kind of transaction, the time of our newest call whose transaction the listing shows with a plausible
   * time. For this kind, the listing is at least that recent. A kind without such a call is missing. Later airtime
   * proves nothing about mobile money, which the upstream may list later.
   */
  freshUntil: ReadonlyMap<string, Date>;
}

function added(batches: Map<string, Batch>, name: string, one: Seen): Batch {
  const batch = batches.get(name);
  if (!batch) {
    const begun = [one];
    batches.set(name, begun);
    return begun;
  }
  batch.push(one);
  return batch;
}

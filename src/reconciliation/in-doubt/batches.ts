import { Rules, Seen, SentCall, Wanted } from './calls-in-doubt';
import { Created, CREATED_BY, isOtherType } from '../../operations/effects';
import { keysOfItem, keysOfSeen, referenceKey, Timetable } from './payments';
import { haveKindInCommon, looseKey } from './recipients';
import { each, Work } from './work';

/** The transactions of one batch: one request makes one batch (docs/reference/upstream.md, "Identifiers"). */
export type Batch = Seen[];

/** The batches of a listing, by whom they name: an outage leaves thousands of calls in doubt, among thousands of transactions. */
export class Batches {
  /** Amounts of all transactions, and their earliest and latest time. */
  readonly amounts = new Set<string>();
  earliest = Infinity;
  latest = -Infinity;
  private readonly all = new Map<string, Batch>();
  private readonly byName = new Map<string, Set<Batch>>();
  /** Those with a transaction that names nobody, or not in full. */
  private readonly unnamed = new Set<Batch>();
  /** By their types, and the kinds of names (an e-mail address, a phone number) that they have. */
  private readonly alike = new Map<string, { type: string | null; names: string[]; batches: Set<Batch> }>();
  /** By what their first transaction pays to whom: each transaction of a batch must be an item of its call. */
  private readonly payments = new Timetable<Batch>();

  private constructor() {}

  static *of(seen: Seen[]): Work<Batches> {
    const batches = new Batches();
    yield* each(seen, (one) => batches.add(one));
    yield* each(batches.all.values(), (batch) => batches.addPayment(batch));
    batches.payments.sort();
    return batches;
  }

  /** All that could be a call, or some of it, judged by a transaction of each: in its time, and by the same keys. */
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

  /** All that could have to do with a call. */
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

  /** Whether anything could have to do with a call. */
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

  /** What names no batch stands alone. */
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
    if (!first || first.issuedAt === null) return; // without a time it could be of any
    for (const key of new Set(keysOfSeen(first))) this.payments.add(key, first.issuedAt.getTime(), batch);
  }
}

/** The upstream's listing, as far as our records do not say whose its transactions are. */
export interface Listing {
  readId: string;
  /** When it was asked for. */
  askedAt: Date;
  /** Transactions that belong to no other call of ours for certain. */
  unclaimed: Batches;
  /** Transactions of ours that should be in it and are not: with any, it is not complete. */
  missing: number;
  /** When the oldest transaction in it was issued: whether something older was cut off cannot be known. */
  oldest: Date | null;
  /**
   * For each kind of transaction, by its name, when the newest call of ours was sent whose transaction the listing shows at that time. For
   * this kind the listing is no older than that. A kind without such a call is missing: later airtime proves nothing about
   * mobile money, which the upstream may list later.
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

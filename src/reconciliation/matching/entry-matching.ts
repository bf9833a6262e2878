import { Flow } from './flows';

/**
 * An entry that changed the value of a wallet. Amounts are text with six decimals and no sign, so that equal amounts
 * are equal texts.
 */
export interface WalletEntry {
  walletId: string;
  ordinal: number;
  amount: string;
  /** In milliseconds. Null if neither the entry nor a neighbour has a time. */
  at: number | null;
  description: string | null;
}

/**
 * The ways in which the upstream may book a payment, which are not documented. They are tried in this order: a batch
 * with its fees (`batch`), a batch with items that cost something at first and were refunded later (`batch_at_first`),
 * a batch without fees (`batch_net`), a transaction with its fee (`single`), a transaction without its fee
 * (`single_net`), and the fee of a payment that was booked without it (`fee`). What came back is booked alike.
 */
const BOOKINGS = ['batch', 'batch_at_first', 'batch_net', 'single', 'single_net', 'fee'] as const;
export type Booking = (typeof BOOKINGS)[number];

/** One way in which transactions could explain an entry. */
export interface Explanation {
  /** The batch that the transactions belong to. */
  batch: string;
  /** The transaction. Null for the whole batch. */
  single: string | null;
  booking: Booking;
  amount: string;
  flow: Flow;
  /** The part of the amount that is a fee. */
  fee: string;
  /** When the transaction, or the first of the batch, was issued, in milliseconds. */
  at: number;
  /** Whether the entry may be any time later, because money comes back late. */
  late: boolean;
  /** The upstream's identifiers. An entry whose description has one is explained by it at any time. */
  names: string[];
}

/**
 * A batch in which several items moved no money in the end. It is unknown which of them cost something at first. Any
 * amount between the sum of the others and the sum of all therefore explains a debit.
 */
export interface Range {
  batch: string;
  low: number;
  high: number;
  at: number;
}

/** What explains each entry. Entries without an explanation are missing. */
export type Explained = Map<WalletEntry, Pick<Explanation, 'flow' | 'fee'>>;

/** Finds an explanation for as many entries as possible. Each transaction explains its own amount once. */
export function explain(
  entries: WalletEntry[],
  explanations: Explanation[],
  ranges: Range[],
  toleranceMs: number,
): Explained {
  const matching = new Matching(entries, explanations, toleranceMs);
  for (const booking of BOOKINGS) {
    for (const entry of entries) if (!matching.of.has(entry)) matching.place(entry, booking);
  }
  const explained: Explained = new Map(matching.of);
  for (const entry of entries) {
    if (explained.has(entry)) continue;
    const amount = Number(entry.amount);
    const range = ranges.find(
      ({ batch, low, high, at }) =>
        low <= amount && amount <= high && isNear(entry, at, toleranceMs) && matching.isUnused(batch),
    );
    if (range) explained.set(entry, { flow: 'payout', fee: '0' });
    if (range) matching.takeBatch(range.batch, entry);
  }
  return explained;
}

function isNear({ at }: WalletEntry, time: number, toleranceMs: number): boolean {
  return at === null || Math.abs(time - at) <= toleranceMs;
}

/** Offers of one amount. */
class Offers {
  private readonly inOrder: Explanation[];
  private readonly late: Explanation[];
  private readonly byName: Map<string, Explanation[]>;

  constructor(offers: Explanation[]) {
    this.inOrder = offers.toSorted((one, other) => one.at - other.at);
    this.late = this.inOrder.filter(({ late }) => late);
    this.byName = grouped(offers.flatMap((offer) => offer.names.map((name): [string, Explanation] => [name, offer])));
  }

  /** Returns the offers that fit an entry: those that its description names, then the nearest in time. */
  for({ at, description }: WalletEntry, toleranceMs: number): Set<Explanation> {
    const named = (description ?? '').split(/[\s,;:()"']+/).flatMap((word) => this.byName.get(word) ?? []);
    if (at === null) return new Set([...named, ...this.inOrder]);
    const near = this.inOrder.slice(this.placeOf(at - toleranceMs), this.placeOf(at + toleranceMs + 1));
    const nearest = near.toSorted((one, other) => Math.abs(one.at - at) - Math.abs(other.at - at));
    return new Set([...named, ...nearest, ...this.late.filter((offer) => offer.at < at)]);
  }

  /** The number of offers before a time. */
  private placeOf(time: number): number {
    let [low, high] = [0, this.inOrder.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.inOrder[middle] as Explanation).at < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Entries with their explanations, one to one. A batch is booked as a whole or by its transactions, never both. */
class Matching {
  readonly of = new Map<WalletEntry, Explanation>();
  private readonly batches = new Map<string, WalletEntry>();
  private readonly singles = new Map<string, Map<string, WalletEntry>>();
  /** The payments that were booked without their fee. The entry of the fee, once there is one. */
  private readonly fees = new Map<string, WalletEntry | null>();
  private readonly offered: Map<string, Offers>;

  /** The bookings of payments without their fee. */
  private readonly nets: Map<string, Explanation[]>;

  constructor(
    private readonly entries: WalletEntry[],
    explanations: Explanation[],
    private readonly toleranceMs: number,
  ) {
    this.nets = grouped(explanations.filter(isNet).map((offer) => [keyOf(offer), offer]));
    const groups = grouped(explanations.map((offer) => [`${offer.booking} ${offer.amount}`, offer]));
    this.offered = new Map([...groups].map(([key, offers]) => [key, new Offers(offers)]));
  }

  /**
   * Gives an entry an explanation of this booking, or of an earlier one. The holder of an explanation gives way if it
   * has another one.
   * @param seen the batches that are being rearranged.
   */
  place(entry: WalletEntry, booking: Booking, seen = new Set<string>()): boolean {
    const offers = this.offersFor(entry, booking).filter(({ batch }) => !seen.has(batch));
    const free = offers.find((offer) => this.holderOf(offer) === undefined);
    if (free) {
      this.take(free, entry);
      return true;
    }
    return offers.some((offer) => {
      if (offer.booking === 'fee') return this.placeFee(entry, offer);
      const holder = this.holderOf(offer);
      if (!holder || seen.has(offer.batch)) return false;
      seen.add(offer.batch);
      const held = this.of.get(holder);
      if (!held || held.booking === 'fee' || this.fees.get(keyOf(held))) return false;
      this.release(held, holder);
      const gaveWay = this.place(holder, booking, seen);
      this.take(gaveWay ? offer : held, gaveWay ? entry : holder);
      return gaveWay;
    });
  }

  /** Explains a fee, if the entry of its payment can be explained by the payment without the fee. */
  private placeFee(entry: WalletEntry, fee: Explanation): boolean {
    const [net] = this.nets.get(keyOf(fee)) ?? [];
    if (!net || this.holderOf(net) !== undefined) return false;
    const payment = this.entries.find((other) => {
      const held = this.of.get(other);
      const isBound = held && (held.booking === 'fee' || this.fees.get(keyOf(held)));
      return other.amount === net.amount && !isBound && isNear(other, net.at, this.toleranceMs);
    });
    if (!payment) return false;
    const held = this.of.get(payment);
    if (held) this.release(held, payment);
    this.take(net, payment);
    this.take(fee, entry);
    return true;
  }

  isUnused(batch: string): boolean {
    return !this.batches.has(batch) && !this.singles.get(batch)?.size;
  }

  takeBatch(batch: string, entry: WalletEntry): void {
    this.batches.set(batch, entry);
  }

  private offersFor(entry: WalletEntry, booking: Booking): Explanation[] {
    const allowed = BOOKINGS.slice(0, BOOKINGS.indexOf(booking) + 1);
    return allowed.flatMap((one) => [
      ...(this.offered.get(`${one} ${entry.amount}`)?.for(entry, this.toleranceMs) ?? []),
    ]);
  }

  /** The entry that holds an offer. Null if none can give way, undefined if the offer is free. */
  private holderOf(offer: Explanation): WalletEntry | null | undefined {
    const { batch, single, booking } = offer;
    if (booking === 'fee') return this.fees.get(keyOf(offer)) === null ? undefined : null;
    const whole = this.batches.get(batch);
    const singles = this.singles.get(batch);
    if (single !== null) return whole ?? singles?.get(single);
    if (!singles?.size) return whole;
    return singles.size === 1 ? [...singles.values()][0] : null;
  }

  private take(offer: Explanation, entry: WalletEntry): void {
    const { batch, single, booking } = offer;
    this.of.set(entry, offer);
    if (booking === 'fee') {
      this.fees.set(keyOf(offer), entry);
      return;
    }
    if (single === null) this.batches.set(batch, entry);
    else this.singles.set(batch, (this.singles.get(batch) ?? new Map<string, WalletEntry>()).set(single, entry));
    if (isNet(offer)) this.fees.set(keyOf(offer), null);
  }

  private release(offer: Explanation, entry: WalletEntry): void {
    this.of.delete(entry);
    this.fees.delete(keyOf(offer));
    if (offer.single === null) this.batches.delete(offer.batch);
    else this.singles.get(offer.batch)?.delete(offer.single);
  }
}

function isNet({ booking }: Explanation): boolean {
  return booking === 'batch_net' || booking === 'single_net';
}

function keyOf({ batch, single }: Explanation): string {
  return JSON.stringify([batch, single]);
}

function grouped(named: [string, Explanation][]): Map<string, Explanation[]> {
  const groups = new Map<string, Explanation[]>();
  for (const [name, one] of named) {
    const group = groups.get(name);
    if (group) group.push(one);
    else groups.set(name, [one]);
  }
  return groups;
}

import { grouped } from '../../../platform/batches';
import {
  Booking,
  BOOKINGS,
  couldCost,
  Explanation,
  isNear,
  Offers,
  PartlyFailedBatch,
  WalletEntry,
} from './entry-offers';

type Offered = Omit<Explanation, 'late' | 'names'>;

/** Explanation of each entry. Entries without one are absent. */
export type Explanations = Map<WalletEntry, Offered>;

/** Input of `explain`. */
export interface ExplanationInput {
  explanations: Explanation[];
  partlyFailed: PartlyFailedBatch[];
  toleranceMs: number;
  /** Entries outside of the period. They use up the transactions that explain them. */
  outside?: WalletEntry[];
}

/**
 * Finds an explanation for as many entries as possible. Each transaction explains its own amount once. The
 * entries nearest to a transaction come first, and keep it from a stranger of the same amount.
 */
export function explain(entries: WalletEntry[], input: ExplanationInput): Explanations {
  const { explanations, partlyFailed, toleranceMs, outside = [] } = input;
  const all = [...outside, ...entries];
  const matching = new EntryMatching(all, explanations, toleranceMs);
  for (const booking of BOOKINGS) {
    for (const entry of matching.nearestFirst(booking)) matching.assign(entry, booking);
  }
  for (const entry of all.filter((one) => !matching.of.has(one))) {
    const found = partlyFailed.find(
      (part) =>
        isNear(entry, part.at, toleranceMs) && matching.isUnused(part.batch) && couldCost(part, entry.amount),
    );
    if (found) matching.take({ ...found, ...PAID_AT_FIRST, amount: entry.amount }, entry);
  }
  return matching.of;
}

const PAID_AT_FIRST = { booking: 'batch_at_first', flow: 'payout', single: null, fee: '0' } as const;

/**
 * Entries with their explanations, one to one. A batch is booked whole or by its transactions, never both.
 */
class EntryMatching {
  readonly of = new Map<WalletEntry, Offered>();
  /** The entries of each batch: one of its own, or those of its transactions. */
  private readonly holders = new Map<string, Map<string | null, WalletEntry>>();
  /** Payments booked without their fee, with the entry of the fee once it is known. */
  private readonly fees = new Map<string, WalletEntry | null>();
  private readonly offered: Map<string, Offers>;

  /** Bookings of payments without their fee. */
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

  /** Returns the entries without an explanation, those nearest to an offer of this booking first. */
  nearestFirst(booking: Booking): WalletEntry[] {
    const unexplained = this.entries.filter((entry) => !this.of.has(entry));
    const distances = unexplained.map((entry) => {
      const offers = this.offered.get(`${booking} ${entry.amount}`);
      return { entry, distance: offers?.distanceTo(entry) ?? Number.MAX_VALUE };
    });
    return distances.sort((one, other) => one.distance - other.distance).map(({ entry }) => entry);
  }

  /**
   * Assigns an explanation of this booking, or of an earlier one, to an entry. The holder of an explanation
   * gives way if it has another one.
   * @param seen batches that are being rearranged.
   */
  assign(entry: WalletEntry, booking: Booking, seen = new Set<string>()): boolean {
    const offers = this.offersFor(entry, booking).filter(({ batch }) => !seen.has(batch));
    const free = offers.find((offer) => this.holderOf(offer) === undefined);
    if (free) {
      this.take(free, entry);
      return true;
    }
    return offers.some((offer) => {
      if (offer.booking === 'fee') return this.assignFee(entry, offer);
      const holder = this.holderOf(offer);
      if (!holder || seen.has(offer.batch)) return false;
      seen.add(offer.batch);
      const held = this.of.get(holder);
      if (!held || held.booking === 'fee' || this.fees.get(keyOf(held))) return false;
      this.release(held, holder);
      const gaveWay = this.assign(holder, booking, seen);
      this.take(gaveWay ? offer : held, gaveWay ? entry : holder);
      return gaveWay;
    });
  }

  /** Explains a fee, if the payment without the fee can explain the payment's entry. */
  private assignFee(entry: WalletEntry, fee: Explanation): boolean {
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
    return !this.holders.get(batch)?.size;
  }

  private offersFor(entry: WalletEntry, booking: Booking): Explanation[] {
    const allowed = BOOKINGS.slice(0, BOOKINGS.indexOf(booking) + 1);
    return allowed.flatMap((one) => [
      ...(this.offered.get(`${one} ${entry.amount}`)?.for(entry, this.toleranceMs) ?? []),
    ]);
  }

  /** Returns the entry that holds an offer. Null if none can give way, undefined if the offer is free. */
  private holderOf(offer: Explanation): WalletEntry | null | undefined {
    const { batch, single, booking } = offer;
    if (booking === 'fee') return this.fees.get(keyOf(offer)) === null ? undefined : null;
    const holders = this.holders.get(batch) ?? new Map<string | null, WalletEntry>();
    if (single !== null) return holders.get(null) ?? holders.get(single);
    return holders.size > 1 ? null : [...holders.values()][0];
  }

  take(offer: Offered, entry: WalletEntry): void {
    const { batch, single, booking } = offer;
    this.of.set(entry, offer);
    if (booking === 'fee') {
      this.fees.set(keyOf(offer), entry);
      return;
    }
    const holders = this.holders.get(batch) ?? new Map<string | null, WalletEntry>();
    this.holders.set(batch, holders.set(single, entry));
    if (isNet(offer)) this.fees.set(keyOf(offer), null);
  }

  private release(offer: Offered, entry: WalletEntry): void {
    this.of.delete(entry);
    this.fees.delete(keyOf(offer));
    this.holders.get(offer.batch)?.delete(offer.single);
  }
}

function isNet({ booking }: Offered): boolean {
  return booking === 'batch_net' || booking === 'single_net';
}

function keyOf({ batch, single }: Offered): string {
  return JSON.stringify([batch, single]);
}

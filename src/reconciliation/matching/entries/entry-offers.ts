import { grouped } from '../../../platform/batches';
import { Flow } from '../../book/flows';

/**
 * An entry that changed the value of a wallet. Amounts are text with six decimals and no sign, because equal
 * amounts must be equal strings.
 */
export interface WalletEntry {
  walletId: string;
  ordinal: number;
  amount: string;
  /** In milliseconds since 1970. Null if neither the entry nor a neighbour has a time. */
  at: number | null;
  description: string | null;
}

/**
 * Ways in which the upstream may book a payment, which are undocumented. They are tried in this order: a
 * batch with its fees (`batch`), a batch with items that cost something at first and were refunded later
 * (`batch_at_first`), a batch without fees (`batch_net`), a transaction with its fee (`single`), a
 * transaction without its fee (`single_net`), and the fee of a payment booked without it (`fee`). Returned
 * money is booked alike.
 */
export const BOOKINGS = ['batch', 'batch_at_first', 'batch_net', 'single', 'single_net', 'fee'] as const;
export type Booking = (typeof BOOKINGS)[number];

/** A possible explanation of an entry by transactions. */
export interface Explanation {
  /** Batch of the transactions. */
  batch: string;
  /** The transaction. Null for the whole batch. */
  single: string | null;
  booking: Booking;
  amount: string;
  flow: Flow;
  /** Fee included in the amount. */
  fee: string;
  /** Issue time of the transaction, or of the first one of the batch, in milliseconds since 1970. */
  at: number;
  /** Whether the entry may be any time later, because money is returned late. */
  late: boolean;
  /** The upstream's identifiers. They explain an entry at any time if its description has one of them. */
  names: string[];
}

/** Offers of one amount. */
export class Offers {
  private readonly inOrder: Explanation[];
  private readonly late: Explanation[];
  private readonly byName: Map<string, Explanation[]>;

  constructor(offers: Explanation[]) {
    this.inOrder = offers.toSorted((one, other) => one.at - other.at);
    this.late = this.inOrder.filter(({ late }) => late);
    this.byName = grouped(offers.flatMap((offer) => offer.names.map((name) => [name, offer])));
  }

  /** Returns the distance to the nearest offer, in ms. Negative if the entry's description names one. */
  distanceTo(entry: WalletEntry): number {
    if (this.named(entry).length > 0) return -1;
    const { at } = entry;
    if (at === null) return Number.MAX_VALUE;
    const next = this.countBefore(at);
    const nearest = this.inOrder.slice(Math.max(next - 1, 0), next + 1);
    return Math.min(Number.MAX_VALUE, ...nearest.map((offer) => Math.abs(offer.at - at)));
  }

  /** Returns the offers that fit an entry: first those named in its description, then the nearest in time. */
  for(entry: WalletEntry, toleranceMs: number): Set<Explanation> {
    const { at } = entry;
    const named = this.named(entry);
    if (at === null) return new Set([...named, ...this.inOrder]);
    const near = this.inOrder.slice(
      this.countBefore(at - toleranceMs),
      this.countBefore(at + toleranceMs + 1),
    );
    const nearest = near.toSorted((one, other) => Math.abs(one.at - at) - Math.abs(other.at - at));
    return new Set([...named, ...nearest, ...this.late.filter((offer) => offer.at < at)]);
  }

  private named({ description }: WalletEntry): Explanation[] {
    return (description ?? '').split(/[\s,;:()"']+/).flatMap((word) => this.byName.get(word) ?? []);
  }

  /** Returns the number of offers before a time. */
  private countBefore(time: number): number {
    let [low, high] = [0, this.inOrder.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.inOrder[middle] as Explanation).at < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function isNear({ at }: WalletEntry, time: number, toleranceMs: number): boolean {
  return at === null || Math.abs(time - at) <= toleranceMs;
}

/**
 * A batch in which several items moved no money in the end. It is unknown which of them cost something at
 * first. Any subset of them, together with the other items, can therefore explain a debit.
 */
export interface PartlyFailedBatch {
  batch: string;
  /** Cost of the items that moved money, with their fees, in millionths of a US dollar. */
  moved: number;
  /** Cost of each other item, with its fee, in millionths of a US dollar. */
  others: number[];
  /** In milliseconds since 1970. */
  at: number;
}

/** Maximum number of sums. A batch of many different amounts would explain nearly any debit. */
const MOST_SUMS = 100_000;

/** Returns whether a debit can be the sum of a batch. The amount is in US dollars. */
export function couldCost({ moved, others }: PartlyFailedBatch, amount: string): boolean {
  const wanted = Math.round(Number(amount) * 1e6) - moved;
  let sums = new Set([0]);
  for (const other of others) {
    if (sums.has(wanted)) return true;
    sums = new Set([...sums, ...[...sums].map((sum) => sum + other).filter((sum) => sum <= wanted)]);
    if (sums.size > MOST_SUMS) return false;
  }
  return sums.has(wanted);
}

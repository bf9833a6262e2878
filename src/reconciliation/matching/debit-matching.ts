/**
 * An entry that reduced the value of a wallet. Amounts are text with six decimals, so that equal amounts are equal
 * texts.
 */
export interface Debit {
  walletId: string;
  ordinal: number;
  amount: string;
  at: number;
}

/**
 * The ways in which the upstream may book a payment, which are not documented. They are tried in this order: a batch
 * with its fees (`batch`), a batch with items that cost something at first and were refunded later (`batch_at_first`),
 * a batch without fees (`batch_net`), a transaction with its fee (`single`), a transaction without its fee
 * (`single_net`), and the fee of a payment that was booked without it (`fee`).
 */
const BOOKINGS = ['batch', 'batch_at_first', 'batch_net', 'single', 'single_net', 'fee'] as const;
export type Booking = (typeof BOOKINGS)[number];

/** One way in which transactions could explain a debit. */
export interface Explanation {
  /** The batch that the transactions belong to. */
  batch: string;
  /** The transaction. Null for the whole batch. */
  single: string | null;
  booking: Booking;
  amount: string;
  /** When the transaction, or the first of the batch, was issued, in milliseconds. */
  at: number;
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

/** Returns the debits that no transaction explains. Each transaction explains its own amount once. */
export function unexplainedDebits(
  debits: Debit[],
  explanations: Explanation[],
  ranges: Range[],
  toleranceMs: number,
): Debit[] {
  const used = new Used();
  let left = debits;
  for (const booking of BOOKINGS) {
    const offered = byAmount(explanations.filter((one) => one.booking === booking));
    left = [...byAmount(left)].flatMap(([amount, group]) =>
      leftOf(group, offered.get(amount) ?? [], { toleranceMs, used }),
    );
  }
  return left.filter((debit) => {
    const amount = Number(debit.amount);
    const range = ranges.find(
      ({ batch, low, high, at }) =>
        low <= amount && amount <= high && Math.abs(at - debit.at) <= toleranceMs && used.isFree(batch),
    );
    if (range) used.takeBatch(range.batch);
    return !range;
  });
}

/** The transactions that already explain a debit. A batch is booked as a whole or by its transactions, never both. */
class Used {
  private readonly batches = new Set<string>();
  private readonly split = new Set<string>();
  private readonly singles = new Set<string>();
  private readonly owesFee = new Set<string>();

  isFree(batch: string): boolean {
    return !this.batches.has(batch) && !this.split.has(batch);
  }

  takeBatch(batch: string): void {
    this.batches.add(batch);
  }

  allows(one: Explanation): boolean {
    if (one.booking === 'fee') return this.owesFee.has(nameOf(one));
    if (one.single === null) return this.isFree(one.batch);
    return !this.batches.has(one.batch) && !this.singles.has(nameOf(one));
  }

  take(one: Explanation): void {
    if (one.booking === 'fee') {
      this.owesFee.delete(nameOf(one));
      return;
    }
    if (one.single === null) this.takeBatch(one.batch);
    else {
      this.split.add(one.batch);
      this.singles.add(nameOf(one));
    }
    if (one.booking === 'batch_net' || one.booking === 'single_net') this.owesFee.add(nameOf(one));
  }
}

function nameOf({ batch, single }: Explanation): string {
  return JSON.stringify([batch, single]);
}

/** Pairs both sides in the order of time. All windows have the same length, so no other assignment explains more. */
function leftOf(
  debits: Debit[],
  explanations: Explanation[],
  { toleranceMs, used }: { toleranceMs: number; used: Used },
): Debit[] {
  const ordered = explanations.toSorted((one, other) => one.at - other.at);
  let next = 0;
  return debits
    .toSorted((one, other) => one.at - other.at)
    .filter((debit) => {
      for (let one = ordered[next]; one; one = ordered[++next]) {
        if (one.at > debit.at + toleranceMs) return true;
        if (one.at < debit.at - toleranceMs || !used.allows(one)) continue;
        used.take(one);
        next += 1;
        return false;
      }
      return true;
    });
}

function byAmount<Row extends { amount: string }>(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.amount);
    if (group) group.push(row);
    else groups.set(row.amount, [row]);
  }
  return groups;
}

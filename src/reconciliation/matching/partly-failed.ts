/**
 * A batch in which several items moved no money in the end. It is unknown which of them cost something at first. The sum
 * of the others and of any of these therefore explains a debit.
 */
export interface PartlyFailed {
  batch: string;
  /** What the items cost that moved money, with their fees, in millionths of a US dollar. */
  moved: number;
  /** What each of the others costs, with its fee, in millionths of a US dollar. */
  others: number[];
  /** In milliseconds. */
  at: number;
}

/** A batch of many different amounts has too many sums, and could explain nearly any debit. */
const MOST_SUMS = 100_000;

/** Tells whether a debit can be the sum of a batch. The amount is in US dollars. */
export function couldCost({ moved, others }: PartlyFailed, amount: string): boolean {
  const wanted = Math.round(Number(amount) * 1e6) - moved;
  let sums = new Set([0]);
  for (const other of others) {
    if (sums.has(wanted)) return true;
    sums = new Set([...sums, ...[...sums].map((sum) => sum + other).filter((sum) => sum <= wanted)]);
    if (sums.size > MOST_SUMS) return false;
  }
  return sums.has(wanted);
}

import Decimal from 'decimal.js';

const USD_DECIMALS = 6; // As in the database.
const Exact = Decimal.clone({ precision: 60 }); // A product of two amounts of the largest batch has 38 digits.

/** Returns a percentage of `total`, rounded up to six decimals. */
export function feeOf(total: Decimal, percent: Decimal): Decimal {
  return new Decimal(new Exact(total).times(percent).div(100).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_UP));
}

/**
 * Splits a fee in proportion to costs, without a remainder. A part is the fee of all costs up to its own, rounded down,
 * minus the fee of the costs before it.
 */
export function splitFee(fee: Decimal, costs: Decimal[]): Decimal[] {
  if (fee.isZero()) return costs.map(() => new Decimal(0));
  const total = costs.reduce((sum, cost) => sum.plus(cost), new Exact(0));
  let reached = new Exact(0);
  let owed = new Exact(0);
  return costs.map((cost) => {
    const before = owed;
    reached = reached.plus(cost);
    owed = reached.times(fee).div(total).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_DOWN);
    return new Decimal(owed.minus(before));
  });
}

import { Decimal } from 'decimal.js';
import { FeeRule, FeeTier } from './fees';

/** Calls that must have been charged a fee before it is expected. One mistake of the upstream is not. */
export const CALLS_TO_LEARN = 3;

/** The smallest amount of `spending`, in digits. */
const SMALLEST_EXPONENT = -6;

/** Decimals of a share. Rounded down, because no size of payout has proven it. */
const PERCENT_DECIMALS = 6;

/** A range of amounts in steps of 1, 2 and 5, such as from 20 to below 50 US dollars. */
export interface PayoutSize {
  fromUsd: Decimal;
  belowUsd: Decimal;
}

/** A fee that a call was charged for a payout of a size. */
export interface CallFee {
  callId: string;
  /** The smallest amount of the size. */
  sizeUsd: Decimal;
  usd: Decimal;
  /** Day in UTC. */
  day: string;
}

/** The fee that is expected of payouts of a size. */
export interface LearnedFee extends PayoutSize {
  usd: Decimal;
  /** Number of known calls that were charged at least as much. */
  calls: number;
  /** The last day of such a call, in UTC. */
  day: string;
}

/** Returns the size of an amount. Undefined for an amount that no cap can count. */
export function sizeOf(amountUsd: Decimal): PayoutSize | undefined {
  if (!amountUsd.isFinite() || amountUsd.lte(0) || amountUsd.e < SMALLEST_EXPONENT) return undefined;
  const unit = new Decimal(10).pow(amountUsd.e);
  const steps = [1, 2, 5, 10].map((step) => unit.times(step));
  const next = steps.findIndex((step) => step.gt(amountUsd));
  return { fromUsd: steps[next - 1] ?? unit, belowUsd: steps[next] ?? unit };
}

/**
 * Returns the fee of each size that enough calls were charged, by rising size: the largest one that three
 * calls were charged at least. See docs/internals/decisions/money/0064-fees-are-configured-or-learned-by-size.md.
 * @param fees at most one of each call and size.
 */
export function learnedFees(fees: Iterable<CallFee>): LearnedFee[] {
  const bySize = new Map<string, CallFee[]>();
  for (const fee of fees) {
    const size = fee.sizeUsd.toFixed();
    bySize.set(size, [...(bySize.get(size) ?? []), fee]);
  }
  return [...bySize.values()].flatMap(learned).sort((one, other) => one.fromUsd.cmp(other.fromUsd));
}

function learned(fees: CallFee[]): LearnedFee[] {
  const usd = fees.map((fee) => fee.usd).sort((one, other) => other.cmp(one))[CALLS_TO_LEARN - 1];
  const size = fees[0] && sizeOf(fees[0].sizeUsd);
  if (!usd || !size) return [];
  const charged = fees.filter((fee) => fee.usd.gte(usd));
  const [day = ''] = charged
    .map((fee) => fee.day)
    .sort()
    .reverse();
  return [{ ...size, usd, calls: charged.length, day }];
}

const ZERO = new Decimal(0);
const NONE: FeeTier = { belowUsd: null, percent: ZERO, fixedUsd: ZERO, minUsd: ZERO };

/**
 * Returns the rule that expects these fees. A size without a fee of its own gets the most that the sizes
 * around it prove: the fee of the next smaller one, and the share of the next larger one.
 * @param fees by rising size, at least one.
 */
export function ruleOfLearned(fees: readonly LearnedFee[]): FeeRule {
  const tiers = fees.flatMap(({ fromUsd, belowUsd, usd }, position): FeeTier[] => {
    const smaller = fees[position - 1];
    const percent = usd.div(belowUsd).times(100).toDecimalPlaces(PERCENT_DECIMALS, Decimal.ROUND_DOWN);
    const between = { ...NONE, belowUsd: fromUsd, percent, minUsd: smaller?.usd ?? ZERO };
    // No payout is expected to cost more than itself. A larger fee is a mistake of the upstream.
    const whole = { ...NONE, belowUsd: usd, percent: new Decimal(100) };
    return [
      ...(smaller?.belowUsd.eq(fromUsd) ? [] : [between]),
      ...(usd.gt(fromUsd) ? [whole] : []),
      { ...NONE, belowUsd, fixedUsd: usd },
    ];
  });
  const last = tiers.pop() ?? NONE;
  return [...tiers, { ...last, belowUsd: null }];
}

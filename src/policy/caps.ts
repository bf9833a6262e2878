import { Decimal } from 'decimal.js';

/** The caps of a client, and what counts against them. */
export interface Caps {
  dailyCapUsd: Decimal | null;
  monthlyCapUsd: Decimal | null;
  spentTodayUsd: Decimal;
  spentThisMonthUsd: Decimal;
}

/** The amounts of a request that count against caps. */
export interface Amounts {
  usd: Decimal | null;
  feeUsd: Decimal | null;
}

/** A cap that a request would exceed. */
export interface OverCap {
  kind: 'over_cap';
  period: 'daily' | 'monthly';
  capUsd: Decimal;
  leftUsd: Decimal;
  feeUsd: Decimal | null;
}

/** Returns what a request reserves on the caps: its amount, and the fees that are expected. Null for nothing. */
export function reservationOf({ usd, feeUsd }: Amounts): Decimal | null {
  return usd && feeUsd ? usd.plus(feeUsd) : usd;
}

/** Returns the cap that a request would exceed, the daily one first. Undefined if there is none. */
export function overCap(amounts: Amounts, caps: Caps): OverCap | undefined {
  const usd = reservationOf(amounts);
  if (usd === null) return undefined;
  const over = (period: OverCap['period'], capUsd: Decimal | null, spentUsd: Decimal): OverCap | undefined => {
    if (!capUsd || spentUsd.plus(usd).lte(capUsd)) return undefined;
    return {
      kind: 'over_cap',
      period,
      capUsd,
      leftUsd: Decimal.max(0, capUsd.minus(spentUsd)),
      feeUsd: amounts.feeUsd,
    };
  };
  return (
    over('daily', caps.dailyCapUsd, caps.spentTodayUsd) ?? over('monthly', caps.monthlyCapUsd, caps.spentThisMonthUsd)
  );
}

import { Decimal } from 'decimal.js';
import { described, INSTANT, nullable, USD } from '../../platform/schema/fields';
import { ClientSpending, PeriodSpending } from '../../policy/spending.service';

/** A cap and its remaining amount. */
export class CapDto {
  @nullable(USD, 'The cap. Null without a cap.') cap_usd!: string | null;
  @described(USD, 'Amount spent or reserved. Calls in doubt count until they are settled.')
  spent_usd!: string;
  @nullable(USD, 'Remaining amount. Null without a cap.') left_usd!: string | null;
  @described(INSTANT, 'Time when the cap resets.') resets_at!: Date;
}

/** A client's caps and their use. */
export class UsageDto {
  @described({ type: CapDto }, 'The day, from midnight to midnight UTC.') daily!: CapDto;
  @described({ type: CapDto }, 'The calendar month, in UTC.') monthly!: CapDto;
}

/** A client's caps in US dollars. Null without a cap. */
export interface Caps {
  daily: Decimal.Value | null;
  monthly: Decimal.Value | null;
}

export function toUsage({ daily, monthly }: Caps, { today, thisMonth }: ClientSpending): UsageDto {
  return { daily: toCap(daily, today), monthly: toCap(monthly, thisMonth) };
}

/** Subtracts the spent amount from a cap. Returns zero if a lowered cap is already exceeded. */
export function toCap(capUsd: Decimal.Value | null, { usd, resetsAt }: PeriodSpending): CapDto {
  const cap = capUsd === null ? null : new Decimal(capUsd);
  const left = cap && Decimal.max(cap.minus(usd), 0);
  return {
    cap_usd: cap?.toFixed() ?? null,
    spent_usd: usd.toFixed(),
    left_usd: left?.toFixed() ?? null,
    resets_at: resetsAt,
  };
}

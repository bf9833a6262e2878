import { Environment } from './environment';

/** Tolerances and expectations of a reconciliation. Amounts and percentages are decimal text. */
export interface ReconciliationConfig {
  /** A cron expression in UTC. Each tick compares the day before it. Undefined: only on request. */
  readonly schedule: string | undefined;
  readonly amountToleranceUsd: string;
  /** The tolerance between the sum of a wallet's entries and its stated balance. */
  readonly balanceToleranceUsd: string;
  /** The fee that the upstream is expected to take, in per cent of an amount. */
  readonly feePercent: string;
  readonly feeToleranceUsd: string;
  /** How far two times of the same payment may be apart. */
  readonly timeToleranceSeconds: number;
  /** The age from which a payment is late. */
  readonly lateAfterSeconds: number;
  readonly listingTimeoutMs: number;
}

export function toReconciliation(env: Environment): ReconciliationConfig {
  return {
    schedule: env.RECONCILIATION_SCHEDULE,
    amountToleranceUsd: env.RECONCILIATION_AMOUNT_TOLERANCE_USD,
    balanceToleranceUsd: env.RECONCILIATION_BALANCE_TOLERANCE_USD,
    feePercent: env.RECONCILIATION_FEE_PERCENT,
    feeToleranceUsd: env.RECONCILIATION_FEE_TOLERANCE_USD,
    timeToleranceSeconds: env.RECONCILIATION_TIME_TOLERANCE_SECONDS,
    lateAfterSeconds: env.RECONCILIATION_LATE_AFTER_SECONDS,
    listingTimeoutMs: env.RECONCILIATION_LISTING_TIMEOUT_MS,
  };
}

import { Environment } from './environment';

/** Tolerances and expectations of a reconciliation. Amounts and percentages are decimal text. */
export type ReconciliationConfig = Readonly<ReturnType<typeof toReconciliation>>;

export function toReconciliation(env: Environment) {
  return {
    /** A cron expression in UTC. Each tick compares the day before it. Undefined: only on request. */
    schedule: env.RECONCILIATION_SCHEDULE,
    amountToleranceUsd: env.RECONCILIATION_AMOUNT_TOLERANCE_USD,
    /** The tolerance between the sum of a wallet's entries and its stated balance. */
    balanceToleranceUsd: env.RECONCILIATION_BALANCE_TOLERANCE_USD,
    /** The fee that the upstream is expected to take, in per cent of an amount. */
    feePercent: env.RECONCILIATION_FEE_PERCENT,
    feeToleranceUsd: env.RECONCILIATION_FEE_TOLERANCE_USD,
    /** How far two times of the same payment may be apart. */
    timeToleranceSeconds: env.RECONCILIATION_TIME_TOLERANCE_SECONDS,
    /** The age from which a payment is late. */
    lateAfterSeconds: env.RECONCILIATION_LATE_AFTER_SECONDS,
    listingTimeoutMs: env.RECONCILIATION_LISTING_TIMEOUT_MS,
  };
}

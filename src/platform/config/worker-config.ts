import { Environment } from './environment/environment';

/** Returns the settings of the worker: wallets, the resolver and the follow-up. */
export function toWorkerConfig(env: Environment) {
  return {
    /** Seconds between readings of the wallets. 0 disables them. */
    walletsEverySeconds: env.WALLETS_EVERY_SECONDS,
    /** Low-balance thresholds as decimal text, by type or ID of the wallet. */
    walletLowBalanceUsd: env.WALLET_LOW_BALANCE_USD,
    /** Seconds between rounds of the resolver. 0 disables it. */
    resolverEverySeconds: env.RESOLVER_EVERY_SECONDS,
    followUpEverySeconds: env.FOLLOW_UP_EVERY_SECONDS,
    followUpDays: env.FOLLOW_UP_DAYS,
    /** Quiet time after sending. A transaction that is still unlisted will never appear. */
    resolverQuietSeconds: env.RESOLVER_QUIET_SECONDS,
    /** Quiet time after an error of the upstream. The shorter of the two applies. */
    resolverRejectedQuietSeconds: env.RESOLVER_REJECTED_QUIET_SECONDS,
    /** Recipient of the unpaid probe links that measure the lag of the listing. Undefined disables probes. */
    resolverProbeEmail: env.RESOLVER_PROBE_EMAIL,
    /** Source wallet of each operation, by type or ID. Unlisted operations use any wallet. */
    payoutWallets: env.PAYOUT_WALLETS,
  };
}

/** Tolerances and expectations of a reconciliation. Amounts and percentages are decimal text. */
export type ReconciliationConfig = Readonly<ReturnType<typeof toReconciliation>>;

export function toReconciliation(env: Environment) {
  return {
    /** A cron expression in UTC. Each tick compares the previous day. Undefined runs on request only. */
    schedule: env.RECONCILIATION_SCHEDULE,
    amountToleranceUsd: env.RECONCILIATION_AMOUNT_TOLERANCE_USD,
    /** The tolerance between the sum of a wallet's entries and its stated balance. */
    balanceToleranceUsd: env.RECONCILIATION_BALANCE_TOLERANCE_USD,
    /** Expected fee of the upstream, in per cent of an amount. */
    feePercent: env.RECONCILIATION_FEE_PERCENT,
    feeToleranceUsd: env.RECONCILIATION_FEE_TOLERANCE_USD,
    /** Maximum difference between two times of the same payment. */
    timeToleranceSeconds: env.RECONCILIATION_TIME_TOLERANCE_SECONDS,
    /** Minimum age of a late payment. */
    lateAfterSeconds: env.RECONCILIATION_LATE_AFTER_SECONDS,
    /** Whether an imported statement settles payouts that it proves to be paid. */
    statementsSettle: env.RECONCILIATION_STATEMENTS_SETTLE === 'true',
    listingTimeoutMs: env.RECONCILIATION_LISTING_TIMEOUT_MS,
  };
}

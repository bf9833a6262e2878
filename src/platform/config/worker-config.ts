import { Environment } from './environment/environment';

/** Returns how the worker watches the wallets, resolves calls in doubt, and follows payouts. */
export function toWorkerConfig(env: Environment) {
  return {
    /** Seconds between readings of the wallets. 0 disables them. */
    walletsEverySeconds: env.WALLETS_EVERY_SECONDS,
    /** The balances below which wallets are low, in decimal text, by the type or ID of the wallet. */
    walletLowBalanceUsd: env.WALLET_LOW_BALANCE_USD,
    /** Seconds between rounds of the resolver. 0 disables it. */
    resolverEverySeconds: env.RESOLVER_EVERY_SECONDS,
    followUpEverySeconds: env.FOLLOW_UP_EVERY_SECONDS,
    followUpDays: env.FOLLOW_UP_DAYS,
    /** The time after sending from which a transaction that the upstream does not list will never appear. */
    resolverQuietSeconds: env.RESOLVER_QUIET_SECONDS,
    /** The same for a call that the upstream answered with an error. The shorter of the two applies. */
    resolverRejectedQuietSeconds: env.RESOLVER_REJECTED_QUIET_SECONDS,
    /** The recipient of the unpaid links that show how current the listing is. Undefined for none. */
    resolverProbeEmail: env.RESOLVER_PROBE_EMAIL,
    /** The type or ID of the wallet that each operation is paid from. Operations that are missing use any wallet. */
    payoutWallets: env.PAYOUT_WALLETS,
  };
}

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

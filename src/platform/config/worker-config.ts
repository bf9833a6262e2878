import { Environment } from './environment';

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

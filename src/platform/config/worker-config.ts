import { Environment } from './environment';

/** How the worker watches the wallets, resolves calls in doubt, and follows payouts. */
export interface WorkerConfig {
  /** Seconds between readings of the wallets. 0 disables them. */
  readonly walletsEverySeconds: number;
  /** The balances below which wallets are low, in decimal text, by the type or ID of the wallet. */
  readonly walletLowBalanceUsd: ReadonlyMap<string, string>;
  /** Seconds between rounds of the resolver. 0 disables it. */
  readonly resolverEverySeconds: number;
  readonly followUpEverySeconds: number;
  readonly followUpDays: number;
  /** The time after sending from which a transaction that the upstream does not list will never appear. */
  readonly resolverQuietSeconds: number;
  /** The same for a call that the upstream answered with an error. The shorter of the two applies. */
  readonly resolverRejectedQuietSeconds: number;
  /** The recipient of the unpaid links that show how current the listing is. Undefined for none. */
  readonly resolverProbeEmail: string | undefined;
  /** The type or ID of the wallet that each operation is paid from. Operations that are missing use any wallet. */
  readonly payoutWallets: ReadonlyMap<string, string>;
}

export function toWorkerConfig(env: Environment): WorkerConfig {
  return {
    walletsEverySeconds: env.WALLETS_EVERY_SECONDS,
    walletLowBalanceUsd: env.WALLET_LOW_BALANCE_USD,
    resolverEverySeconds: env.RESOLVER_EVERY_SECONDS,
    followUpEverySeconds: env.FOLLOW_UP_EVERY_SECONDS,
    followUpDays: env.FOLLOW_UP_DAYS,
    resolverQuietSeconds: env.RESOLVER_QUIET_SECONDS,
    resolverRejectedQuietSeconds: env.RESOLVER_REJECTED_QUIET_SECONDS,
    resolverProbeEmail: env.RESOLVER_PROBE_EMAIL,
    payoutWallets: env.PAYOUT_WALLETS,
  };
}

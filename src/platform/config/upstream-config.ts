import { Environment } from './environment';
import { Secret } from './secret';
import { baseUrlOf, UpstreamAccountConfig } from './upstream-accounts';

/** How the proxy reaches the upstream, and how it reads its answers. */
export interface UpstreamConfig {
  readonly upstreamBaseUrl: string | undefined;
  readonly upstreamApiKey: Secret | undefined;
  readonly upstreamSubAccount: string | undefined;
  readonly upstreamWallet: string | undefined;
  /** The accounts beside the one that the settings above describe. */
  readonly namedAccounts: readonly UpstreamAccountConfig[];
  readonly upstreamTimeoutMs: number;
  readonly upstreamConnectTimeoutMs: number;
  readonly upstreamConnections: number;
  readonly upstreamMaxResponseBytes: number;
  /** The provider's name for what the interface calls a credit. */
  readonly upstreamUnitName: string;
  /** Status words of the upstream beside the known ones, such as `settled_t2=paid`. */
  readonly upstreamStatusWords: readonly string[];
  /** Texts of errors that prove that nothing was done, even with 500. */
  readonly upstreamRejectionTexts: readonly string[];
  /** The number of requests that may wait for a connection to the upstream. More are rejected. */
  readonly upstreamQueue: number;
  /** Milliseconds by operation, if they differ from `upstreamTimeoutMs`. */
  readonly upstreamTimeouts: ReadonlyMap<string, number>;
  /** The fees of the upstream by operation, such as `1.5%+0.05`. They are reserved with the payouts. */
  readonly upstreamFees: ReadonlyMap<string, string>;
  /** The secret that signs the upstream's events. Undefined accepts none. */
  readonly upstreamWebhookSecret: Secret | undefined;
}

export function toUpstreamConfig(env: Environment, namedAccounts: UpstreamAccountConfig[]): UpstreamConfig {
  return {
    upstreamBaseUrl: baseUrlOf(env),
    upstreamApiKey: env.UPSTREAM_API_KEY === undefined ? undefined : new Secret(env.UPSTREAM_API_KEY),
    upstreamSubAccount: env.UPSTREAM_SUB_ACCOUNT,
    upstreamWallet: env.UPSTREAM_WALLET,
    namedAccounts: Object.freeze(namedAccounts),
    upstreamTimeoutMs: env.UPSTREAM_TIMEOUT_MS,
    upstreamConnectTimeoutMs: env.UPSTREAM_CONNECT_TIMEOUT_MS,
    upstreamConnections: env.UPSTREAM_CONNECTIONS,
    upstreamMaxResponseBytes: env.UPSTREAM_MAX_RESPONSE_BYTES,
    upstreamUnitName: env.UPSTREAM_UNIT_NAME,
    upstreamStatusWords: Object.freeze(env.UPSTREAM_STATUS_WORDS),
    upstreamRejectionTexts: Object.freeze(env.UPSTREAM_REJECTION_TEXTS),
    upstreamQueue: env.UPSTREAM_QUEUE,
    upstreamTimeouts: env.UPSTREAM_TIMEOUTS,
    upstreamFees: env.UPSTREAM_FEES,
    upstreamWebhookSecret:
      env.UPSTREAM_WEBHOOK_SECRET === undefined ? undefined : new Secret(env.UPSTREAM_WEBHOOK_SECRET),
  };
}

import { Environment } from './environment';
import { Secret } from './secret';
import { baseUrlOf, UpstreamAccountConfig } from './upstream-accounts';

/** Returns how the proxy reaches the upstream, and how it reads its answers. */
export function toUpstreamConfig(env: Environment, namedAccounts: UpstreamAccountConfig[]) {
  return {
    upstreamBaseUrl: baseUrlOf(env),
    upstreamApiKey: env.UPSTREAM_API_KEY === undefined ? undefined : new Secret(env.UPSTREAM_API_KEY),
    upstreamSubAccount: env.UPSTREAM_SUB_ACCOUNT,
    upstreamWallet: env.UPSTREAM_WALLET,
    /** The accounts beside the one that the settings above describe. */
    namedAccounts: Object.freeze(namedAccounts),
    upstreamTimeoutMs: env.UPSTREAM_TIMEOUT_MS,
    upstreamConnectTimeoutMs: env.UPSTREAM_CONNECT_TIMEOUT_MS,
    upstreamConnections: env.UPSTREAM_CONNECTIONS,
    upstreamMaxResponseBytes: env.UPSTREAM_MAX_RESPONSE_BYTES,
    /** The provider's name for what the interface calls a credit. */
    upstreamUnitName: env.UPSTREAM_UNIT_NAME,
    /** Status words of the upstream beside the known ones, such as `settled_t2=paid`. */
    upstreamStatusWords: Object.freeze(env.UPSTREAM_STATUS_WORDS),
    /** Texts of errors that prove that nothing was done, even with 500. */
    upstreamRejectionTexts: Object.freeze(env.UPSTREAM_REJECTION_TEXTS),
    /** The number of requests that may wait for a connection to the upstream. More are rejected. */
    upstreamQueue: env.UPSTREAM_QUEUE,
    /** Milliseconds by operation, if they differ from `upstreamTimeoutMs`. */
    upstreamTimeouts: env.UPSTREAM_TIMEOUTS,
    /** The fees of the upstream by operation, such as `1.5%+0.05`. They are reserved with the payouts. */
    upstreamFees: env.UPSTREAM_FEES,
    /** The secret that signs the upstream's events. Undefined accepts none. */
    upstreamWebhookSecret:
      env.UPSTREAM_WEBHOOK_SECRET === undefined ? undefined : new Secret(env.UPSTREAM_WEBHOOK_SECRET),
  };
}

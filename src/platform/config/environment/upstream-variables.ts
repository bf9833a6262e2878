import { inSection } from './variable';

/** The descriptions of the variables of the upstream. */
export const UPSTREAM_VARIABLES = inSection('upstream', {
  UPSTREAM_BASE_URL: {
    about: "The upstream's base address, without `/api/v0.1`. Production requires `https://`.",
    unset: 'the sandbox',
  },
  UPSTREAM_API_KEY: { about: "The upstream's API key.", unset: "the sandbox's key" },
  UPSTREAM_SUB_ACCOUNT: {
    about:
      'The sub-account of all requests, sent as `subAccount`. See ' +
      '[Accounts](../operate/upstream-accounts.md).',
    unset: 'the account that owns the key',
  },
  UPSTREAM_WALLET: {
    about: 'The source wallet of transfers. See [Accounts](../operate/upstream-accounts.md).',
    unset: 'the wallet that the request names',
  },
  UPSTREAM_ACCOUNTS: {
    about:
      'Accounts other than `main`, such as `kenya,uganda`. Each has its own variables, such as ' +
      '`UPSTREAM_ACCOUNT_KENYA_API_KEY`. See [Accounts](../operate/upstream-accounts.md).',
    unset: 'none',
  },
  UPSTREAM_UNIT_NAME:
    "The provider's name of a `credit`, in two paths and in the fields `credit` and `credits`. See [The " +
    'upstream](upstream.md#the-units-name).',
  UPSTREAM_TIMEOUT_MS:
    'Time limit of a request, from its first byte to the end of the answer. After it, the outcome is ' +
    'unknown.',
  UPSTREAM_TIMEOUTS: {
    about:
      'The same for an operation or a class of deadlines, such as `POST ' +
      '/payouts/airtime=60000,lookup=3000`. [Operations](operations.md) lists both.',
    unset: 'none',
  },
  UPSTREAM_FEES: {
    about:
      "The upstream's fees by operation: a percentage, a fixed part, a minimum, and tiers by amount, such " +
      'as `POST /payouts/airtime=1.5%+0.05 min 0.10`. They are reserved on caps with the payouts. See ' +
      '[Rules for fees](../reconciliation/settlement.md#rules-for-fees).',
    unset: 'the learned fees',
  },
  UPSTREAM_CONNECT_TIMEOUT_MS:
    'Time limit of a connection. After it, nothing was sent. Each address of the host but the last has a ' +
    'third of it.',
  UPSTREAM_CONNECTIONS:
    'Connections to each upstream account, and the permits of its requests that are admitted or in flight. ' +
    'See [Too many requests](../operate/monitor.md#too-many-requests).',
  UPSTREAM_QUEUE:
    'Maximum number of payments of an account that wait for a permit, and of reads. More are rejected ' +
    'before they are recorded. A body of more than 16 KiB counts once for each 16 KiB.',
  UPSTREAM_MAX_RESPONSE_BYTES:
    'Maximum size of an answer, also after decoding. A larger one is cut off, and its outcome is unknown.',
  UPSTREAM_WEBHOOK_SECRET: {
    about:
      "The secret that signs the upstream's events. In production it has at least 24 bytes. Without it, " +
      '`POST /hooks/upstream` returns 404.',
    unset: 'none',
  },
  UPSTREAM_STATUS_WORDS: {
    about:
      'Additional status words of the upstream with their meanings, such as ' +
      '`settled_t2=paid,voided=reversed`. See [Status words](upstream.md#status-words).',
    unset: 'none',
  },
  HTTPS_PROXY: {
    about:
      'The proxy for outgoing requests to `https://` addresses, such as `http://proxy.example.com:3128`. ' +
      'See [Behind an egress proxy](../operate/deploy.md#behind-an-egress-proxy).',
    unset: 'none: direct connections',
  },
  HTTP_PROXY: {
    about: 'The same for `http://` addresses, which production does not use.',
    unset: 'none: direct connections',
  },
  NO_PROXY: {
    about:
      'Hosts that are reached without a proxy: comma-separated domains, IP addresses, CIDR blocks, or ' +
      '`*`, such as `.corp.example.com,10.0.0.0/8`. Loopback hosts never need a proxy.',
    unset: 'none',
  },
  INFO_CACHE_TTL_SECONDS: 'Cache time of answers to `/info`. `0` disables the cache.',
  CHECK_COVERAGE:
    "Whether countries and networks are checked against the upstream's lists before a payout is sent.",
});

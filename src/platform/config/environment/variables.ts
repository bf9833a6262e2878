import { Environment } from './environment';
import { UPSTREAM_VARIABLES } from './upstream-variables';
import { inSection, Variable } from './variable';

/** The description of each variable. The class {@link Environment} has the rules and defaults. */
export const VARIABLES: Readonly<Record<keyof Environment, Variable>> = {
  ...inSection('process', {
    NODE_ENV:
      '`production` requires `DATABASE_URL`, `UPSTREAM_BASE_URL`, `UPSTREAM_API_KEY` and `PUBLIC_URL`. ' +
      'See [Deploy](../operate/deploy.md).',
    PORT: 'The port of the proxy. `0` takes a free port.',
    METRICS_PORT: {
      about:
        'The port of `/metrics`. With the value of `PORT`, apps can read them, too. `0` takes a free ' +
        'port and logs it. See [Health](../operate/monitor.md#health).',
      unset: '`PORT`; in production `9464`',
    },
    HOST: { about: 'The address that the proxy listens on.', unset: '`127.0.0.1`; in production `0.0.0.0`' },
    LOG_LEVEL: 'The least severe level of log lines.',
    DATA_DIR:
      'The folder of the embedded Postgres, the sandbox, the demo keys, the log key, the checkpoints, the ' +
      'spooled outcomes, and [the epoch file](../operate/recovery.md). Each proxy needs [its ' +
      'own](../operate/deploy.md#data_dir). Keep it across restarts.',
    DRAIN_MS: 'Drain time after SIGTERM in milliseconds. The proxy reports not ready and still serves.',
    REQUEST_DEADLINE_MS:
      'Time limit of a request for its key and its admission, without its wait, in milliseconds. After it, ' +
      'the request gets 503. See [Too many requests](../operate/monitor.md#too-many-requests).',
    START_WORKER:
      'Whether `npm start` also runs a [worker](../operate/deploy.md#the-worker), and restarts it whenever ' +
      'it ends. Set it to `false` where workers run separately.',
    WORKER_PORT: {
      about: "The port of a worker's `/livez`, `/readyz` and `/metrics`.",
      unset: '`3001`; with the proxy a free port',
    },
  }),
  ...inSection('database', {
    DATABASE_URL: {
      about:
        'The Postgres database of the records. It may list [several ' +
        'hosts](../operate/high-availability.md#several-hosts-in-one-address).',
      unset: 'an embedded Postgres',
    },
    DATABASE_OWNER_URL: {
      about: "The owner's login, for migrations. See [Database](../operate/deploy.md#database).",
      unset: '`DATABASE_URL`',
    },
    DATABASE_SEALER_URL: {
      about:
        'The login that seals the records. See ' +
        '[roles](../auditors/people-and-retention.md#roles-in-the-database).',
      unset: "the owner's login, as `payout_sealer`",
    },
    DATABASE_SESSION_URL: {
      about:
        'The address for session features. Set it if `DATABASE_URL` leads through [PgBouncer in ' +
        'transaction mode](../operate/pgbouncer.md). It requires `DATABASE_OWNER_URL`.',
      unset: '`DATABASE_URL`',
    },
    DATABASE_REPLICA_URL: {
      about:
        'A standby for searches, summaries and exports. It may list several hosts. See [A replica for ' +
        'reads](../operate/high-availability.md#a-replica-for-reads).',
      unset: 'none: the primary',
    },
    MIGRATE_ON_START: {
      about:
        'Whether a start applies pending migrations. With `false`, a start fails while some are pending, ' +
        'and `database migrate` applies them. See [Upgrades](../operate/deploy.md#upgrades).',
      unset: '`true`; with `NODE_ENV=production`, `false`',
    },
    DATABASE_POOL_SIZE:
      'Postgres connections for payouts. Readers have four more, and everything else has five. See ' +
      '[Database](../operate/deploy.md#database).',
    DATABASE_ALLOW_UNSAFE:
      'Unsafe settings that production accepts: settings of Postgres that can lose confirmed payments ' +
      '(`fsync`, `full_page_writes`, `synchronous_commit`, see ' +
      '[Durability](../operate/deploy.md#durability)), and connections to another machine without verified ' +
      'TLS (`no_tls`, see [TLS](../operate/deploy.md#tls-to-the-database)).',
    MIN_FREE_SPACE_MB:
      'Minimum of free megabytes on the disks of `DATA_DIR` and of the embedded Postgres. Below it, no ' +
      'request is admitted. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
    DATABASE_RESERVE_MB:
      'Megabytes in the database at `DATABASE_URL` that are reserved for the outcomes of requests in ' +
      'flight. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
    MAX_CLOCK_SKEW_SECONDS:
      'Maximum difference between the clocks of a process and of the database. Above it, the instance does ' +
      'not pay. See [Clocks](../operate/monitor.md#clocks).',
    LOG_SIGNING_KEY: {
      about:
        'The Ed25519 key that signs the log, the same on all instances. Several keys, newest first, all ' +
        'sign. See [Change the key](../operate/log-and-retention.md#change-the-key).',
      unset: 'made at the first start, in `DATA_DIR/log-key.json`',
    },
    LOG_RETIRED_KEYS: 'Comma-separated verifier keys of former log keys.',
    CHECKPOINT_FILE: {
      about: 'The file that checkpoints are appended to, for a witness to copy.',
      unset: '`checkpoints` in `DATA_DIR`',
    },
  }),
  ...UPSTREAM_VARIABLES,
  ...inSection('payouts', {
    OUTCOMES:
      'Whether an outcome is committed before the answer to the app (`durable`) or after it (`relaxed`). ' +
      'With `relaxed`, a crash in between leaves the call in doubt.',
    DUPLICATE_GUARD:
      'Whether requests with the same content are rejected. `false` is for tests, and production refuses it.',
    DUPLICATE_WINDOW_SECONDS:
      'Time after a success in which the same body without a key is a suspected duplicate. `0` disables it.',
    DUPLICATE_ACROSS_CLIENTS_SECONDS:
      'Time in which the same payment of another client is held for approval. `0` disables this check.',
    APPROVAL_EXPIRES_AFTER_SECONDS: 'Time in which a held call can be approved.',
    QUEUE_EXPIRES_AFTER_SECONDS: 'Time in which a queued call (`Prefer: respond-async`) is sent.',
    MAX_ITEMS: 'Maximum number of items in one request.',
    MAX_BODY_BYTES: 'Maximum size of a request body.',
    EXTRA_FIELDS_ALLOWED: {
      about: 'Undocumented fields that may pass to the upstream, such as `turnOffNotification,narration`.',
      unset: 'none',
    },
    SCREENING_URL: {
      about:
        'The address of a service that allows, denies or holds each call by its recipients. Production ' +
        'requires `https://`. See [Screening](../operate/screening.md).',
      unset: 'none',
    },
    SCREENING_SECRET: {
      about: 'The secret that signs requests to the service. In production it has at least 24 bytes.',
      unset: 'none',
    },
    SCREENING_TIMEOUT_MS: 'Time limit of its answer. After it, the call gets 503 `screening_unavailable`.',
  }),
  ...inSection('requests', {
    PUBLIC_URL: {
      about:
        'Comma-separated addresses of the proxy, such as `https://payouts.example.com`. Other hosts get ' +
        '421. See [Behind a reverse proxy](../operate/deploy.md#behind-a-reverse-proxy).',
      unset: 'loopback names and addresses; required in production',
    },
    TRUSTED_PROXIES: {
      about:
        'Addresses or CIDR blocks of reverse proxies with trusted `X-Forwarded-For`, `X-Forwarded-Host` ' +
        'and `X-Forwarded-Proto`.',
      unset: 'none',
    },
    DUAL_CONTROL: {
      about:
        'Whether a change that expands a client waits for a second person. See [Two ' +
        'persons](../operate/clients.md#two-persons).',
      unset: '`true`; with the embedded Postgres `false`',
    },
    CONSOLE_IDLE_MINUTES: 'Minutes without a request after which a console session ends.',
    PROVIDER_KEYS_MAX_AGE_SECONDS:
      'Maximum age of the keys of an [identity provider](../operate/identity-providers.md) during its ' +
      'outage. After it, requests with its tokens get 503 `provider_unavailable`.',
  }),
  ...inSection('sign_in', {
    OIDC_ISSUER: {
      about:
        'The issuer of the OpenID provider for sign-ins to the console. See [Sign in with your ' +
        'provider](../operate/sign-in.md).',
      unset: 'none: people sign in with keys',
    },
    OIDC_CLIENT_ID: { about: 'The client of the proxy at the provider.', unset: 'none' },
    OIDC_CLIENT_SECRET: {
      about: 'The secret of that client. Without it, the client is public and only PKCE protects its codes.',
      unset: 'none',
    },
    OIDC_SCOPES: 'Scopes that a sign-in requests from the provider.',
    CONSOLE_KEY_SIGN_IN: {
      about: 'Whether people may sign in to the console with a key.',
      unset: '`true`; with `OIDC_ISSUER`, `false`',
    },
    STEP_UP_MAX_AGE_SECONDS: {
      about:
        "Maximum age of a person's authentication for approvals and administration. See " +
        '[Step-up](../operate/sign-in.md#step-up).',
      unset: 'any time',
    },
    STEP_UP_ACR: {
      about: 'Accepted values of the claim `acr`, the strength of the authentication.',
      unset: 'any',
    },
    STEP_UP_OVER_USD:
      'Approvals and settlements of calls up to this amount need no step-up. With `0`, all need it.',
    PAGE_CLIENT_SECRETS: {
      about:
        'The secrets of our clients at the providers of [page sessions](../operate/page-sessions.md): a ' +
        'JSON object by issuer and client ID, such as ' +
        '`{"https://id.example.com":{"wallet-pages":"…"}}`. A client without a secret is public.',
      unset: 'none',
    },
    PAGE_IDLE_MINUTES: 'Minutes without a request after which a page session ends.',
  }),
  ...inSection('reconciliation', {
    RECONCILIATION_SCHEDULE: {
      about:
        'A cron expression in UTC, such as `15 2 * * *`. At each tick, one instance compares the previous ' +
        'day.',
      unset: 'none',
    },
    RECONCILIATION_AMOUNT_TOLERANCE_USD: 'Tolerated difference in amount.',
    RECONCILIATION_FEE_TOLERANCE_USD: 'Tolerated difference in fee.',
    RECONCILIATION_BALANCE_TOLERANCE_USD: 'Tolerated difference in wallet balance.',
    RECONCILIATION_FEE_PERCENT: 'The expected fee of the upstream, in percent.',
    RECONCILIATION_TIME_TOLERANCE_SECONDS: 'Time in which a transaction without a shared name can match.',
    RECONCILIATION_LATE_AFTER_SECONDS: 'Age after which a payment is `late`.',
    RECONCILIATION_STATEMENTS_SETTLE: 'Whether runs over imported statements settle payouts.',
    RECONCILIATION_LISTING_TIMEOUT_MS: 'Time limit of the listing of all transactions, which is one answer.',
    WALLETS_EVERY_SECONDS:
      'Interval in which a worker reads the balances of the wallets. `0` disables it. See ' +
      '[Monitor](../operate/monitor.md#wallets).',
    WALLET_LOW_BALANCE_USD: {
      about:
        'Low-balance thresholds by the type or ID of a wallet, such as `airtime=100,momo=50.5`. ' +
        '`kenya/airtime=20` is for one upstream account.',
      unset: 'none',
    },
    RESOLVER_EVERY_SECONDS:
      'First interval of questions to the upstream about calls in doubt. `0` disables them. See [Calls in ' +
      'doubt](../reconciliation/calls-in-doubt.md).',
    FOLLOW_UP_EVERY_SECONDS:
      'Interval in which the upstream is polled for the states of payouts after their answers. `0` ' +
      'disables it. See [Following payouts](../reconciliation/settlement.md#following-payouts).',
    FOLLOW_UP_DAYS: 'Days after the creation of their transactions in which payouts are followed.',
    RESOLVER_QUIET_SECONDS:
      'Time before a call in doubt can be settled as `not_executed`. See [decision ' +
      '0014](../internals/decisions/upstream/0014-when-a-call-was-not-executed.md).',
    RESOLVER_REJECTED_QUIET_SECONDS:
      'The same after an error of the upstream with 2xx or 4xx. The shorter of the two applies. ' +
      'Production needs at least 30.',
    RESOLVER_PROBE_EMAIL: {
      about:
        'Your email address. If no call proves that the listing of transactions is current, the resolver ' +
        'creates and deletes a link for it. See [Probes](../reconciliation/calls-in-doubt.md#probes).',
      unset: 'none: no probes; with the embedded sandbox `listing-probe@example.com`',
    },
    PAYOUT_WALLETS: {
      about:
        'The wallets that operations are paid from, by their type or ID, such as `POST ' +
        '/payouts/airtime=airtime,POST /payouts/mobile-money=momo`. An entry in another wallet then proves ' +
        'nothing about a call in doubt.',
      unset: 'any wallet',
    },
  }),
  ...inSection('sandbox', {
    SANDBOX_PORT: { about: 'The port of the sandbox.', unset: '`4010`; with the proxy a free port' },
    SANDBOX_CONTROL_KEY:
      "The key of the sandbox's control interface. It is also in `sandbox.json`. [The " +
      'sandbox](../../src/sandbox/README.md) lists its other variables.',
  }),
};

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
    LOG_LEVEL: 'The least severe level that is logged.',
    DATA_DIR:
      'The folder of the embedded Postgres, the sandbox, the demo keys, the log key, the checkpoints, ' +
      'the outcomes that wait for the database, and [what tells an old ' +
      'database](../operate/recovery.md). Each proxy needs [one of its ' +
      'own](../operate/deploy.md#data_dir). Keep it across restarts.',
    DRAIN_MS:
      'Drain time after SIGTERM in milliseconds. The proxy reports not ready and still serves requests.',
    REQUEST_DEADLINE_MS:
      'How long a request may wait for its key, its place and its admission together, in milliseconds. ' +
      'After that, it gets 503 and is never sent. See [Too many ' +
      'requests](../operate/monitor.md#too-many-requests).',
    START_WORKER:
      'Whether `npm start` starts a [worker](../operate/deploy.md#the-worker) beside the proxy, and ' +
      'starts it again whenever it ends. Set it to `false` where workers run alone.',
    WORKER_PORT: {
      about: "The port of a worker's `/livez`, `/readyz` and `/metrics`.",
      unset: '`3001`; beside the proxy a free port',
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
        'The address for what needs a session of the server. Set it if `DATABASE_URL` leads through ' +
        '[PgBouncer in transaction mode](../operate/pgbouncer.md). It requires `DATABASE_OWNER_URL`.',
      unset: '`DATABASE_URL`',
    },
    DATABASE_REPLICA_URL: {
      about:
        'A standby that searches, summaries and exports read from. It may list several hosts. See [A ' +
        'replica for reads](../operate/high-availability.md#a-replica-for-reads).',
      unset: 'none: the primary',
    },
    MIGRATE_ON_START: {
      about:
        'Whether a start applies pending migrations. With `false` it is refused while some are pending, ' +
        'and `database migrate` applies them. See [Upgrades](../operate/deploy.md#upgrades).',
      unset: '`true`; with `NODE_ENV=production`, `false`',
    },
    DATABASE_POOL_SIZE:
      'Postgres connections for payouts. Readers have four more, and everything else has five. See ' +
      '[Database](../operate/deploy.md#database).',
    DATABASE_ALLOW_UNSAFE:
      'What production allows although it is unsafe: settings of Postgres that can lose confirmed ' +
      'payments (`fsync`, `full_page_writes`, `synchronous_commit`, see ' +
      '[Durability](../operate/deploy.md#durability)), and connections to another machine without ' +
      'verified TLS (`no_tls`, see [TLS](../operate/deploy.md#tls-to-the-database)).',
    MIN_FREE_SPACE_MB:
      'Free megabytes of the disk of `DATA_DIR`, and of that of the embedded Postgres, below which no ' +
      'request is admitted. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
    DATABASE_RESERVE_MB:
      'Megabytes of the database at `DATABASE_URL` that are kept for the outcomes of requests in flight ' +
      'when its disk is full. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
    MAX_CLOCK_SKEW_SECONDS:
      "The most by which the clock of a process may differ from the database's. Past it, the instance " +
      'does not pay. See [Clocks](../operate/monitor.md#clocks).',
    LOG_SIGNING_KEY: {
      about:
        'The Ed25519 key that signs the checkpoints of the log. Use the same key on all instances. ' +
        'Several keys, newest first, all sign. See [Change the ' +
        'key](../operate/log-and-retention.md#change-the-key).',
      unset: 'made at the first start, in `DATA_DIR/log-key.json`',
    },
    LOG_RETIRED_KEYS: 'Comma-separated verifier keys that have signed the log before and no longer do.',
    CHECKPOINT_FILE: {
      about: 'The file that each checkpoint is appended to, for a witness to copy.',
      unset: '`checkpoints` in `DATA_DIR`',
    },
  }),
  ...UPSTREAM_VARIABLES,
  ...inSection('payouts', {
    OUTCOMES:
      'Whether an outcome is committed before the app is answered (`durable`) or after it (`relaxed`). ' +
      'With `relaxed`, a crash in between leaves the call in doubt.',
    DUPLICATE_GUARD:
      'Whether requests with the same content are refused. `false` is for tests, and production refuses it.',
    DUPLICATE_WINDOW_SECONDS:
      'How long after a success the same body without an idempotency key is a suspected duplicate. `0` ' +
      'disables this check.',
    DUPLICATE_ACROSS_CLIENTS_SECONDS:
      'How long the same recipient and amount from another client waits for an approval. `0` disables ' +
      'this check.',
    APPROVAL_EXPIRES_AFTER_SECONDS: 'How long a call waits for an approval.',
    MAX_ITEMS: 'Most items in one request.',
    MAX_BODY_BYTES: 'Largest request body.',
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
    SCREENING_TIMEOUT_MS: 'Time for its whole answer. After it, the call gets 503 `screening_unavailable`.',
  }),
  ...inSection('requests', {
    PUBLIC_URL: {
      about:
        'The address by which callers reach the proxy, such as `https://payouts.example.com`. Several ' +
        'are separated by commas. Requests for other hosts get 421. See [Behind a reverse ' +
        'proxy](../operate/deploy.md#behind-a-reverse-proxy).',
      unset: 'loopback names and addresses; required in production',
    },
    TRUSTED_PROXIES: {
      about:
        'Addresses or CIDR blocks of reverse proxies whose `X-Forwarded-For`, `X-Forwarded-Host` and ' +
        '`X-Forwarded-Proto` are believed.',
      unset: 'none',
    },
    DUAL_CONTROL: {
      about:
        'Whether a change that lets a client do more waits for a second person. See [Two ' +
        'persons](../operate/clients.md#two-persons).',
      unset: '`true`; with the embedded Postgres `false`',
    },
    CONSOLE_IDLE_MINUTES: 'Minutes without a request after which a console session ends.',
    PROVIDER_KEYS_MAX_AGE_SECONDS:
      'How long the keys of an [identity provider](../operate/identity-providers.md) count while it ' +
      'does not answer. After that, requests with its tokens get 503 `provider_unavailable`.',
  }),
  ...inSection('sign_in', {
    OIDC_ISSUER: {
      about:
        'The OpenID provider at which people sign in to the console, as it names itself. See [Sign in ' +
        'with your provider](../operate/sign-in.md).',
      unset: 'none: people sign in with keys',
    },
    OIDC_CLIENT_ID: { about: 'The client of the proxy at the provider.', unset: 'none' },
    OIDC_CLIENT_SECRET: {
      about: 'The secret of that client. Without it, the client is public and only PKCE protects its codes.',
      unset: 'none',
    },
    OIDC_SCOPES: 'Scopes that the sign-in asks the provider for.',
    CONSOLE_KEY_SIGN_IN: {
      about: 'Whether people may sign in to the console with a key.',
      unset: '`true`; with `OIDC_ISSUER`, `false`',
    },
    STEP_UP_MAX_AGE_SECONDS: {
      about:
        'How long ago people may have proved who they are when they approve or administer. See ' +
        '[Step-up](../operate/sign-in.md#step-up).',
      unset: 'any time',
    },
    STEP_UP_ACR: {
      about: 'How strong the proof must be: values of the claim `acr`, of which one is required.',
      unset: 'any',
    },
    STEP_UP_OVER_USD:
      'Approvals and settlements of calls up to this amount need no step-up. `0`: all need it.',
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
        'A cron expression in UTC, such as `15 2 * * *`. At each tick, one instance compares the day before.',
      unset: 'none',
    },
    RECONCILIATION_AMOUNT_TOLERANCE_USD: 'Differences in amount up to this are no findings.',
    RECONCILIATION_FEE_TOLERANCE_USD: 'Differences in fee up to this are no findings.',
    RECONCILIATION_BALANCE_TOLERANCE_USD: 'Differences in wallet balance up to this are no findings.',
    RECONCILIATION_FEE_PERCENT: 'The fee that the upstream is expected to take, in percent.',
    RECONCILIATION_TIME_TOLERANCE_SECONDS:
      'How long after a payment was sent a transaction without one of its identifiers can still match it.',
    RECONCILIATION_LATE_AFTER_SECONDS: 'Age after which a payment is `late`.',
    RECONCILIATION_LISTING_TIMEOUT_MS: 'Time for the one answer that lists all transactions.',
    WALLETS_EVERY_SECONDS:
      'How often a worker reads the balances of the wallets. `0` disables it. See ' +
      '[Monitor](../operate/monitor.md#wallets).',
    WALLET_LOW_BALANCE_USD: {
      about:
        'The balances below which wallets are low, by the type or ID of the wallet, such as ' +
        '`airtime=100,momo=50.5`. `kenya/airtime=20` is for one upstream account.',
      unset: 'none',
    },
    RESOLVER_EVERY_SECONDS:
      'How often the upstream is first asked about calls in doubt. `0` disables it. See [Calls in ' +
      'doubt](../reconciliation/calls-in-doubt.md).',
    FOLLOW_UP_EVERY_SECONDS:
      'How often the upstream is polled for the states of payouts after their answers. `0` disables it. ' +
      'See [Following payouts](../reconciliation/settlement.md#following-payouts).',
    FOLLOW_UP_DAYS: 'For how many days after their transactions were created payouts are followed.',
    RESOLVER_QUIET_SECONDS:
      'Time before a call in doubt can be settled as `not_executed`. See [decision ' +
      '0014](../internals/decisions/upstream/0014-when-a-call-was-not-executed.md).',
    RESOLVER_REJECTED_QUIET_SECONDS:
      'The same for a call that the upstream answered with an error, and so has finished. The shorter ' +
      'of the two applies.',
    RESOLVER_PROBE_EMAIL: {
      about:
        'An email address of yours. If no other call shows that the listing of transactions is current, ' +
        'the resolver creates an unpaid link for this recipient, looks for it in the listing, and ' +
        'deletes it. See [Probes](../reconciliation/calls-in-doubt.md#probes).',
      unset: 'none, so that there are no probes; with the embedded sandbox `listing-probe@example.com`',
    },
    PAYOUT_WALLETS: {
      about:
        'The wallets that operations are paid from, by their type or ID, such as `POST ' +
        '/payouts/airtime=airtime,POST /payouts/mobile-money=momo`. An entry in another wallet then ' +
        'says nothing about a call in doubt.',
      unset: 'any wallet',
    },
  }),
  ...inSection('sandbox', {
    SANDBOX_PORT: { about: 'The port of the sandbox.', unset: '`4010`; beside the proxy a free port' },
    SANDBOX_CONTROL_KEY:
      "The key of the sandbox's control interface. It is also written to `sandbox.json`. [The " +
      'sandbox](../../src/sandbox/README.md) lists its other variables.',
  }),
};

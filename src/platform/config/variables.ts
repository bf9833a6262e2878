import { Environment } from './environment';
import { RECONCILIATION_VARIABLES } from './reconciliation-variables';
import { SIGN_IN_VARIABLES } from './sign-in-variables';
import { UPSTREAM_VARIABLES } from './upstream-variables';
import { Variable } from './variable';

/** The purpose of each variable. The class {@link Environment} has the rules and defaults. */
export const VARIABLES: Readonly<Record<keyof Environment, Variable>> = {
  NODE_ENV: {
    section: 'process',
    about:
      '`production` requires `DATABASE_URL`, `UPSTREAM_BASE_URL`, `UPSTREAM_API_KEY` and `PUBLIC_URL`. See [Deploy](../operate/deploy.md).',
  },
  PORT: { section: 'process', about: 'The port of the proxy. `0` takes a free port.' },
  METRICS_PORT: {
    section: 'process',
    about:
      'The port of `/metrics`. With the value of `PORT`, apps can read them, too. `0` takes a free port and logs it. See [Health](../operate/monitor.md#health).',
    unset: '`PORT`; in production `9464`',
  },
  HOST: {
    section: 'process',
    about: 'The address that the proxy listens on.',
    unset: '`127.0.0.1`; in production `0.0.0.0`',
  },
  LOG_LEVEL: { section: 'process', about: 'The least severe level that is logged.' },
  DATA_DIR: {
    section: 'process',
    about:
      'The folder of the embedded Postgres, the sandbox, the demo keys, the log key, the checkpoints, the outcomes that wait for the database, and [what tells an old database](../operate/recovery.md). Each proxy needs [one of its own](../operate/deploy.md#data_dir). Keep it across restarts.',
  },
  DRAIN_MS: {
    section: 'process',
    about: 'Drain time after SIGTERM in milliseconds. The proxy reports not ready and still serves requests.',
  },

  REQUEST_DEADLINE_MS: {
    section: 'process',
    about:
      'How long a request may wait for its key, its place and its admission together, in milliseconds. After that, it gets 503 and is never sent. See [Too many requests](../operate/monitor.md#too-many-requests).',
  },
  START_WORKER: {
    section: 'process',
    about:
      'Whether `npm start` starts a [worker](../operate/deploy.md#the-worker) beside the proxy, and starts it again whenever it ends. Set it to `false` where workers run alone.',
  },
  WORKER_PORT: {
    section: 'process',
    about: "The port of a worker's `/livez`, `/readyz` and `/metrics`.",
    unset: '`3001`; beside the proxy a free port',
  },

  DATABASE_URL: {
    section: 'database',
    about:
      'The Postgres database of the records. It may list [several hosts](../operate/high-availability.md#several-hosts-in-one-address).',
    unset: 'an embedded Postgres',
  },
  DATABASE_OWNER_URL: {
    section: 'database',
    about: "The owner's login, for migrations. See [Database](../operate/deploy.md#database).",
    unset: '`DATABASE_URL`',
  },
  DATABASE_SEALER_URL: {
    section: 'database',
    about: 'The login that seals the records. See [roles](../auditors/people-and-retention.md#roles-in-the-database).',
    unset: "the owner's login, as `payout_sealer`",
  },
  DATABASE_SESSION_URL: {
    section: 'database',
    about:
      'The address for what needs a session of the server. Set it if `DATABASE_URL` leads through [PgBouncer in transaction mode](../operate/pgbouncer.md). It requires `DATABASE_OWNER_URL`.',
    unset: '`DATABASE_URL`',
  },
  DATABASE_REPLICA_URL: {
    section: 'database',
    about:
      'A standby that searches, summaries and exports read from. It may list several hosts. See [A replica for reads](../operate/high-availability.md#a-replica-for-reads).',
    unset: 'none: the primary',
  },
  MIGRATE_ON_START: {
    section: 'database',
    about:
      'Whether a start applies pending migrations. With `false` it is refused while some are pending, and `database migrate` applies them. See [Upgrades](../operate/deploy.md#upgrades).',
    unset: '`true`; with `NODE_ENV=production`, `false`',
  },
  DATABASE_POOL_SIZE: {
    section: 'database',
    about:
      'Postgres connections for payouts. Readers have four more, and everything else has five. See [Database](../operate/deploy.md#database).',
  },
  DATABASE_ALLOW_UNSAFE: {
    section: 'database',
    about:
      'What production allows although it is unsafe: settings of Postgres that can lose confirmed payments (`fsync`, `full_page_writes`, `synchronous_commit`, see [Durability](../operate/deploy.md#durability)), and connections to another machine without verified TLS (`no_tls`, see [TLS](../operate/deploy.md#tls-to-the-database)).',
  },
  MIN_FREE_SPACE_MB: {
    section: 'database',
    about:
      'Free megabytes of the disk of `DATA_DIR`, and of that of the embedded Postgres, below which no request is admitted. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
  },
  DATABASE_RESERVE_MB: {
    section: 'database',
    about:
      'Megabytes of the database at `DATABASE_URL` that are kept for the outcomes of requests in flight when its disk is full. `0` disables it. See [Full disks](../operate/monitor.md#full-disks).',
  },
  MAX_CLOCK_SKEW_SECONDS: {
    section: 'database',
    about:
      "The most by which the clock of a process may differ from the database's. Past it, the instance does not pay. See [Clocks](../operate/monitor.md#clocks).",
  },
  LOG_SIGNING_KEY: {
    section: 'database',
    about:
      'The Ed25519 key that signs the checkpoints of the log. Use the same key on all instances. Several keys, newest first, all sign. See [Change the key](../operate/log-and-retention.md#change-the-key).',
    unset: 'made at the first start, in `DATA_DIR/log-key.json`',
  },
  LOG_RETIRED_KEYS: {
    section: 'database',
    about: 'Comma-separated verifier keys that have signed the log before and no longer do.',
  },
  CHECKPOINT_FILE: {
    section: 'database',
    about: 'The file that each checkpoint is appended to, for a witness to copy.',
    unset: '`checkpoints` in `DATA_DIR`',
  },

  ...UPSTREAM_VARIABLES,
  HTTPS_PROXY: {
    section: 'upstream',
    about:
      'The proxy for outgoing requests to `https://` addresses, such as `http://proxy.example.com:3128`. See [Behind an egress proxy](../operate/deploy.md#behind-an-egress-proxy).',
    unset: 'none: direct connections',
  },
  HTTP_PROXY: {
    section: 'upstream',
    about: 'The same for `http://` addresses, which production does not use.',
    unset: 'none: direct connections',
  },
  NO_PROXY: {
    section: 'upstream',
    about:
      'Hosts that are reached without a proxy: comma-separated domains, IP addresses, CIDR blocks, or `*`, such as `.corp.example.com,10.0.0.0/8`. Loopback hosts never need a proxy.',
    unset: 'none',
  },
  INFO_CACHE_TTL_SECONDS: {
    section: 'upstream',
    about: 'How long answers to `/info` are cached. `0` disables the cache.',
  },
  CHECK_COVERAGE: {
    section: 'upstream',
    about: "Whether countries and networks are checked against the upstream's own lists before a payout is sent.",
  },

  OUTCOMES: {
    section: 'payouts',
    about:
      'Whether an outcome is committed before the app is answered (`durable`) or after it (`relaxed`). With `relaxed`, a crash in between leaves the call in doubt.',
  },
  DUPLICATE_GUARD: {
    section: 'payouts',
    about: 'Whether requests with the same content are refused. `false` is for tests, and production refuses it.',
  },
  DUPLICATE_WINDOW_SECONDS: {
    section: 'payouts',
    about:
      'How long after a success the same body without an idempotency key is a suspected duplicate. `0` disables this check.',
  },
  DUPLICATE_ACROSS_CLIENTS_SECONDS: {
    section: 'payouts',
    about: 'How long the same recipient and amount from another client waits for an approval. `0` disables this check.',
  },
  APPROVAL_EXPIRES_AFTER_SECONDS: { section: 'payouts', about: 'How long a call waits for an approval.' },
  MAX_ITEMS: { section: 'payouts', about: 'Most items in one request.' },
  MAX_BODY_BYTES: { section: 'payouts', about: 'Largest request body.' },
  EXTRA_FIELDS_ALLOWED: {
    section: 'payouts',
    about: 'Undocumented fields that may pass to the upstream, such as `turnOffNotification,narration`.',
    unset: 'none',
  },

  SCREENING_URL: {
    section: 'payouts',
    about:
      'The address of a service that allows, denies or holds each call by its recipients. Production requires `https://`. See [Screening](../operate/screening.md).',
    unset: 'none',
  },
  SCREENING_SECRET: {
    section: 'payouts',
    about: 'The secret that signs requests to the service. In production it has at least 24 bytes.',
    unset: 'none',
  },
  SCREENING_TIMEOUT_MS: {
    section: 'payouts',
    about: 'Time for its whole answer. After it, the call gets 503 `screening_unavailable`.',
  },

  PUBLIC_URL: {
    section: 'requests',
    about:
      'The address by which callers reach the proxy, such as `https://payouts.example.com`. Several are separated by commas. Requests for other hosts get 421. See [Behind a reverse proxy](../operate/deploy.md#behind-a-reverse-proxy).',
    unset: 'loopback names and addresses; required in production',
  },
  TRUSTED_PROXIES: {
    section: 'requests',
    about:
      'Addresses or CIDR blocks of reverse proxies whose `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto` are believed.',
    unset: 'none',
  },
  DUAL_CONTROL: {
    section: 'requests',
    about:
      'Whether a change that lets a client do more waits for a second person. See [Two persons](../operate/clients.md#two-persons).',
    unset: '`true`; with the embedded Postgres `false`',
  },
  CONSOLE_IDLE_MINUTES: { section: 'requests', about: 'Minutes without a request after which a console session ends.' },

  ...SIGN_IN_VARIABLES,

  PROVIDER_KEYS_MAX_AGE_SECONDS: {
    section: 'requests',
    about:
      'How long the keys of an [identity provider](../operate/identity-providers.md) count while it does not answer. After that, requests with its tokens get 503 `provider_unavailable`.',
  },

  ...RECONCILIATION_VARIABLES,

  SANDBOX_PORT: {
    section: 'sandbox',
    about: 'The port of the sandbox.',
    unset: '`4010`; beside the proxy a free port',
  },
  SANDBOX_CONTROL_KEY: {
    section: 'sandbox',
    about:
      "The key of the sandbox's control interface. It is also written to `sandbox.json`. [The sandbox](../../src/sandbox/README.md) lists its other variables.",
  },
};

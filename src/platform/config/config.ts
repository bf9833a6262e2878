import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Environment } from './environment';
import { productionFaults } from './production';
import { Secret } from './secret';

/** The configuration, read once at the start and frozen. */
export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  readonly logLevel: string;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly databaseOwnerUrl: string | undefined;
  /** A login that may be `payout_sealer`; without it, the owner's is used, which steps down to that role. */
  readonly databaseSealerUrl: string | undefined;
  readonly databasePoolSize: number;
  /** What signs the log's checkpoints, in the form of Go's note package. */
  readonly logSigningKey: Secret | undefined;
  /** To which signed checkpoints are appended, for a witness; undefined: to none. */
  readonly checkpointFile: string | undefined;
  readonly upstreamBaseUrl: string | undefined;
  readonly upstreamApiKey: Secret | undefined;
  readonly upstreamTimeoutMs: number;
  readonly upstreamConnectTimeoutMs: number;
  readonly upstreamConnections: number;
  readonly upstreamMaxResponseBytes: number;
  /** The provider's own word for what the interface calls a credit. */
  readonly upstreamUnitName: string;
  readonly infoCacheTtlSeconds: number;
  /** Whether countries and networks are looked up before a payout leaves. */
  readonly checkCoverage: boolean;
  /** Whether an outcome is committed before the app is answered, or after it: then what a crash loses is in doubt. */
  readonly outcomes: 'durable' | 'relaxed';
  /** Whether the same content is looked for at all. Without it, only idempotency keys prevent double payments. */
  readonly duplicateGuard: boolean;
  /** Up to so long after an answer, the same content without an idempotency key is a suspected duplicate; 0: never. */
  readonly duplicateWindowSeconds: number;
  /** Within it, the same recipient and amount from another client is held for approval; 0: never. */
  readonly duplicateAcrossClientsSeconds: number;
  readonly approvalExpiresAfterSeconds: number;
  /** How many requests may wait for a connection to the upstream; further ones are shed. */
  readonly upstreamQueue: number;
  /** Milliseconds, by operation, where they differ from `upstreamTimeoutMs`. */
  readonly upstreamTimeouts: ReadonlyMap<string, number>;
  /** CIDR blocks of reverse proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** For how long a proxy that was told to stop still serves, not ready, so that its load balancer notices. */
  readonly drainMs: number;
  readonly maxItems: number;
  readonly maxBodyBytes: number;
  /** Fields that the interface does not document and bodies may have all the same. */
  readonly extraFieldsAllowed: readonly string[];
  /** After so long without a request, who is signed in to the console is so no more. */
  readonly consoleIdleMinutes: number;
  /** Signs the upstream's events; undefined: none are taken. */
  readonly upstreamWebhookSecret: Secret | undefined;
  readonly reconciliation: ReconciliationConfig;
  /** How often the resolver looks for calls in doubt; 0: never. */
  readonly resolverEverySeconds: number;
  /** So long after a call was sent, what the upstream does not list by then never comes. */
  readonly resolverQuietSeconds: number;
  readonly sandboxPort: number;
  readonly sandboxControlKey: Secret;
  /** The other SANDBOX_ variables, by name: how the sandbox that we start behaves. It judges them itself. */
  readonly sandboxBehaviour: Readonly<Record<string, Secret>>;
  /** Whether SANDBOX_PORT was given: beside the proxy the sandbox otherwise takes a free port. */
  readonly sandboxPortGiven: boolean;
}

/** What a reconciliation tolerates and expects. Amounts and percentages are decimal text. */
export interface ReconciliationConfig {
  /** A cron expression in UTC: at each tick, the day before it is compared; undefined: only when asked to. */
  readonly schedule: string | undefined;
  readonly amountToleranceUsd: string;
  /** Between what a wallet's entries add up to and what it says that it holds. */
  readonly balanceToleranceUsd: string;
  /** Of each amount, what the upstream is expected to take for itself. */
  readonly feePercent: string;
  readonly feeToleranceUsd: string;
  /** How far apart two times of what may be the same payment are. */
  readonly timeToleranceSeconds: number;
  /** From when on a payment is said to be late. */
  readonly lateAfterSeconds: number;
  readonly listingTimeoutMs: number;
}

/** The sandbox that the proxy started itself. */
export interface EmbeddedSandbox {
  readonly url: string;
  readonly controlKey: Secret;
  /** Where the demo clients' keys are; undefined: there are none, as the database is not our own. */
  readonly demoKeysFile: string | undefined;
}

/** The configuration with a database and an upstream. The application is built with it. */
export type RunningConfig = Config & {
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly upstreamBaseUrl: string;
  readonly upstreamApiKey: Secret;
  readonly logSigningKey: Secret;
  /** Undefined: the upstream is not ours. */
  readonly embeddedSandbox: EmbeddedSandbox | undefined;
};

/** A start that failed. The message is one line for the operator. */
export class StartError extends Error {}

/** What a command line needs of the configuration. Everything else keeps its default and is neither required nor checked. */
const NEEDED = {
  /** To ask a proxy that runs. */
  client: ['PORT', 'DATA_DIR'],
  /** To work on the database. */
  database: [
    'NODE_ENV',
    'LOG_LEVEL',
    'DATA_DIR',
    'DATABASE_URL',
    'DATABASE_OWNER_URL',
    'DATABASE_SEALER_URL',
    'DATABASE_POOL_SIZE',
    'LOG_SIGNING_KEY',
    'CHECKPOINT_FILE',
  ],
} as const;

/**
 * Reads the environment (and `.env` beside the process, which the environment overrides).
 * @throws StartError naming each bad variable and its rule, never its value.
 */
export function loadConfig(env: NodeJS.ProcessEnv = environment()): Config {
  return parse(env);
}

/**
 * Reads only the part of the configuration that a command needs. A command on an operator's machine then runs without the
 * rest, such as the upstream's key.
 */
export function loadConfigOf(part: keyof typeof NEEDED, env: NodeJS.ProcessEnv = environment()): Config {
  const needed: readonly string[] = NEEDED[part];
  return parse(Object.fromEntries(Object.entries(env).filter(([name]) => needed.includes(name))), needed);
}

function parse(env: NodeJS.ProcessEnv, needed?: readonly string[]): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const read = plainToInstance(Environment, given, { exposeDefaultValues: true });
  const faults = validateSync(read).flatMap((error) => Object.values(error.constraints ?? {}));
  if (read.UPSTREAM_BASE_URL && !read.UPSTREAM_API_KEY)
    faults.push('UPSTREAM_API_KEY is required with UPSTREAM_BASE_URL');
  for (const name of ['DATABASE_OWNER_URL', 'DATABASE_SEALER_URL'] as const) {
    if (read[name] && !read.DATABASE_URL) faults.push(`DATABASE_URL is required with ${name}`);
  }
  if (read.NODE_ENV === 'production') faults.push(...productionFaults(read, needed));
  if (faults.length > 0) throw new StartError(`invalid configuration: ${[...new Set(faults)].join('; ')}`);
  return Object.freeze({
    ...toConfig(read),
    sandboxBehaviour: Object.freeze(sandboxBehaviour(given)),
    sandboxPortGiven: 'SANDBOX_PORT' in given,
  });
}

function environment(): NodeJS.ProcessEnv {
  return { ...envFile(), ...process.env };
}

function envFile(): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}; // there need not be one
    throw new StartError('the file .env cannot be read. Fix its permissions or remove it.');
  }
}

/** Those that we do not read ourselves. Each is a secret: one of them signs events, and addresses may carry passwords. */
function sandboxBehaviour(given: Record<string, string | undefined>): Record<string, Secret> {
  const ours = ['SANDBOX_DATABASE_URL', 'SANDBOX_API_KEY', 'SANDBOX_PORT', 'SANDBOX_CONTROL_KEY'];
  const names = Object.keys(given).filter((name) => name.startsWith('SANDBOX_') && !ours.includes(name));
  return Object.fromEntries(names.map((name) => [name, new Secret(given[name] ?? '')]));
}

function toConfig(env: Environment): Omit<Config, 'sandboxBehaviour' | 'sandboxPortGiven'> {
  const production = env.NODE_ENV === 'production';
  return {
    production,
    port: env.PORT,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    logLevel: env.LOG_LEVEL,
    dataDir: resolve(env.DATA_DIR),
    databaseUrl: env.DATABASE_URL,
    databaseOwnerUrl: env.DATABASE_OWNER_URL,
    databaseSealerUrl: env.DATABASE_SEALER_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    logSigningKey: env.LOG_SIGNING_KEY === undefined ? undefined : new Secret(env.LOG_SIGNING_KEY),
    checkpointFile: resolve(env.CHECKPOINT_FILE ?? join(env.DATA_DIR, 'checkpoints')),
    upstreamBaseUrl: env.UPSTREAM_BASE_URL?.replace(/\/+$/, ''),
    upstreamApiKey: env.UPSTREAM_API_KEY === undefined ? undefined : new Secret(env.UPSTREAM_API_KEY),
    upstreamTimeoutMs: env.UPSTREAM_TIMEOUT_MS,
    upstreamConnectTimeoutMs: env.UPSTREAM_CONNECT_TIMEOUT_MS,
    upstreamConnections: env.UPSTREAM_CONNECTIONS,
    upstreamMaxResponseBytes: env.UPSTREAM_MAX_RESPONSE_BYTES,
    upstreamUnitName: env.UPSTREAM_UNIT_NAME,
    infoCacheTtlSeconds: env.INFO_CACHE_TTL_SECONDS,
    checkCoverage: env.CHECK_COVERAGE === 'true',
    outcomes: env.OUTCOMES,
    duplicateGuard: env.DUPLICATE_GUARD === 'true',
    duplicateWindowSeconds: env.DUPLICATE_WINDOW_SECONDS,
    duplicateAcrossClientsSeconds: env.DUPLICATE_ACROSS_CLIENTS_SECONDS,
    approvalExpiresAfterSeconds: env.APPROVAL_EXPIRES_AFTER_SECONDS,
    upstreamQueue: env.UPSTREAM_QUEUE,
    upstreamTimeouts: env.UPSTREAM_TIMEOUTS,
    trustedProxies: Object.freeze(env.TRUSTED_PROXIES),
    drainMs: env.DRAIN_MS,
    maxItems: env.MAX_ITEMS,
    maxBodyBytes: env.MAX_BODY_BYTES,
    extraFieldsAllowed: Object.freeze([...new Set(env.EXTRA_FIELDS_ALLOWED)]),
    consoleIdleMinutes: env.CONSOLE_IDLE_MINUTES,
    upstreamWebhookSecret:
      env.UPSTREAM_WEBHOOK_SECRET === undefined ? undefined : new Secret(env.UPSTREAM_WEBHOOK_SECRET),
    reconciliation: Object.freeze(toReconciliation(env)),
    resolverEverySeconds: env.RESOLVER_EVERY_SECONDS,
    resolverQuietSeconds: env.RESOLVER_QUIET_SECONDS,
    sandboxPort: env.SANDBOX_PORT,
    sandboxControlKey: new Secret(env.SANDBOX_CONTROL_KEY),
  };
}

function toReconciliation(env: Environment): ReconciliationConfig {
  return {
    schedule: env.RECONCILIATION_SCHEDULE,
    amountToleranceUsd: env.RECONCILIATION_AMOUNT_TOLERANCE_USD,
    balanceToleranceUsd: env.RECONCILIATION_BALANCE_TOLERANCE_USD,
    feePercent: env.RECONCILIATION_FEE_PERCENT,
    feeToleranceUsd: env.RECONCILIATION_FEE_TOLERANCE_USD,
    timeToleranceSeconds: env.RECONCILIATION_TIME_TOLERANCE_SECONDS,
    lateAfterSeconds: env.RECONCILIATION_LATE_AFTER_SECONDS,
    listingTimeoutMs: env.RECONCILIATION_LISTING_TIMEOUT_MS,
  };
}

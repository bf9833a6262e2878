import 'reflect-metadata';
import { join, resolve } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { toDatabaseConfig } from './database/database-config';
import { COMMAND_VARIABLES } from './environment/command-variables';
import { EnvFile, quotedFaults, readEnvFile } from './environment/env-file';
import { Environment } from './environment/environment';
import { productionFaults } from './environment/production';
import { spelledOnce, toEgressConfig } from './network/egress-config';
import { recordedConfiguration } from './recorded-configuration';
import { Secret } from './secrets/secret';
import { fileVariableOf, readSecretFiles, ruleOf } from './secrets/secret-files';
import { signInFaults, toSignInConfig } from './sign-in-config';
import { readAccounts, UpstreamAccountConfig, toUpstreamConfig } from './upstream/upstream-accounts';
import { toReconciliation, toWorkerConfig } from './worker-config';

/** The frozen configuration, read once at startup. */
export type Config = Readonly<ReturnType<typeof toConfig>>;

/** The embedded sandbox. */
export interface EmbeddedSandbox {
  readonly url: string;
  readonly controlKey: Secret;
  /** The file with the keys of the demo clients. Undefined with the operator's own database. */
  readonly demoKeysFile: string | undefined;
}

/** The configuration of a running application, with a database and an upstream. */
export type RunningConfig = Config & {
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  /** The folder of the embedded Postgres. Undefined for another server, whose disk is not visible. */
  readonly databaseDirectory?: string | undefined;
  readonly upstreamBaseUrl: string;
  readonly upstreamApiKey: Secret;
  readonly logSigningKey: Secret;
  /** Undefined if the upstream is not the embedded sandbox. */
  readonly embeddedSandbox: EmbeddedSandbox | undefined;
};

/** Provides the configuration to constructors: `@Inject(SETTINGS) settings: RunningConfig`. */
export const SETTINGS = Symbol('settings');

/** A failed start. Its message is one line for the operator. */
export class StartError extends Error {}

/**
 * Reads the environment and the `.env` file in the working directory. The environment has precedence.
 * @throws StartError that names each bad variable and its rule, never its value.
 */
export function loadConfig(env?: NodeJS.ProcessEnv): Config {
  return parse(env ? withoutFaults(env) : environment());
}

/** Reads a command's part of the configuration. An operator's machine needs no upstream key. */
export function loadConfigOf(part: keyof typeof COMMAND_VARIABLES, env?: NodeJS.ProcessEnv): Config {
  const needed: readonly string[] = COMMAND_VARIABLES[part];
  const { values, faults } = env ? withoutFaults(env) : environment();
  const isNeeded = ([name]: [string, unknown]) =>
    needed.includes(name) || needed.some((one) => fileVariableOf(one) === name);
  const some = {
    values: Object.fromEntries(Object.entries(values).filter(isNeeded)),
    faults: new Map([...faults].filter(isNeeded)),
  };
  return parse(some, needed);
}

/** Returns the fault of a new value of one variable, without quoting the value. */
export function faultOf(name: string, value: string, production: boolean): string | undefined {
  const rule = ruleOf(name);
  try {
    parse(withoutFaults({ NODE_ENV: production ? 'production' : 'development', [rule]: value }), [rule]);
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return error.message.replaceAll(rule, name);
    throw error;
  }
}

/** The accounts of a command, which sends nothing to the upstream. */
const NO_ACCOUNTS = { accounts: [], values: {}, faults: [] };

function parse(env: EnvFile, needed?: readonly string[]): Config {
  const set = Object.fromEntries(
    Object.entries(env.values).filter(([, value]) => value !== undefined && value !== ''),
  );
  const { spelled, faults: ofSpelling } = spelledOnce(set);
  const { values: given, files, faults: ofFiles } = readSecretFiles(spelled);
  const read = plainToInstance(Environment, given, { exposeDefaultValues: true });
  const faults = [...env.faults.values(), ...quotedFaults({ ...set, ...given }), ...ofSpelling, ...ofFiles];
  faults.push(...validateSync(read).flatMap((error) => Object.values(error.constraints ?? {})));
  if (read.UPSTREAM_BASE_URL && !read.UPSTREAM_API_KEY)
    faults.push('UPSTREAM_API_KEY is required with UPSTREAM_BASE_URL');
  if (read.SCREENING_URL && !read.SCREENING_SECRET)
    faults.push('SCREENING_SECRET is required with SCREENING_URL');
  for (const use of ['OWNER', 'SEALER', 'SESSION', 'REPLICA'] as const) {
    const name = `DATABASE_${use}_URL` as const;
    if (read[name] && !read.DATABASE_URL) faults.push(`DATABASE_URL is required with ${name}`);
  }
  if (read.DATABASE_SESSION_URL && !read.DATABASE_OWNER_URL)
    faults.push('DATABASE_OWNER_URL is required with DATABASE_SESSION_URL');
  if (!needed) faults.push(...signInFaults(read));
  if (read.NODE_ENV === 'production') faults.push(...productionFaults(read, needed));
  const { accounts, values, faults: ofAccounts } = needed ? NO_ACCOUNTS : readAccounts(given, read);
  faults.push(...ofAccounts);
  if (faults.length > 0) throw new StartError(`invalid configuration: ${[...new Set(faults)].join('; ')}`);
  return Object.freeze(toConfig(read, { given, accounts, accountValues: values, secretFiles: files }));
}

/** Returns the variables of the process and of the file `.env`, with the faults of the effective ones. */
function environment(): EnvFile {
  try {
    const { values, faults } = readEnvFile('.env');
    return {
      values: { ...values, ...process.env },
      faults: new Map([...faults].filter(([name]) => process.env[name] === undefined)),
    };
  } catch {
    throw new StartError('the file .env cannot be read. Fix its permissions or remove it.');
  }
}

const withoutFaults = (values: NodeJS.ProcessEnv): EnvFile => ({ values, faults: new Map() });

/** Returns the sandbox's own variables. All count as secrets: one signs events, and others have passwords. */
function sandboxBehaviour(given: Record<string, string | undefined>): Record<string, Secret> {
  const ours = ['SANDBOX_DATABASE_URL', 'SANDBOX_API_KEY', 'SANDBOX_PORT', 'SANDBOX_CONTROL_KEY'];
  const names = Object.keys(given).filter((name) => name.startsWith('SANDBOX_') && !ours.includes(name));
  return Object.fromEntries(names.map((name) => [name, new Secret(given[name] ?? '')]));
}

/** The environment, completed by files and by variables of accounts. */
interface Sources {
  given: Readonly<Record<string, string | undefined>>;
  accounts: UpstreamAccountConfig[];
  accountValues: Readonly<Record<string, string>>;
  secretFiles: ReadonlyMap<string, string>;
}

function toConfig(env: Environment, { given, accounts, accountValues, secretFiles }: Sources) {
  return {
    ...toProcessConfig(env, given),
    /** The keys that sign checkpoints, in the form of Go's note package, newest first. */
    logSigningKey: env.LOG_SIGNING_KEY === undefined ? undefined : new Secret(env.LOG_SIGNING_KEY),
    /** Verifier keys that have signed the log before. */
    logRetiredKeys: Object.freeze(env.LOG_RETIRED_KEYS),
    /** The file that signed checkpoints are appended to, for a witness to copy. Undefined disables it. */
    checkpointFile: resolve(env.CHECKPOINT_FILE ?? join(env.DATA_DIR, 'checkpoints')) as string | undefined,
    infoCacheTtlSeconds: env.INFO_CACHE_TTL_SECONDS,
    /** Whether countries and networks are looked up before a payout is sent. */
    checkCoverage: env.CHECK_COVERAGE === 'true',
    /** Whether outcomes are committed before or after the answer. After it, a crash leaves doubt. */
    outcomes: env.OUTCOMES,
    /** Whether duplicate content is detected. Without it, only idempotency keys prevent double payments. */
    duplicateGuard: env.DUPLICATE_GUARD === 'true',
    /** Seconds after an answer in which the same content is a suspected duplicate. 0 disables it. */
    duplicateWindowSeconds: env.DUPLICATE_WINDOW_SECONDS,
    /** Seconds in which the same payment of another client is held for approval. 0 disables it. */
    duplicateAcrossClientsSeconds: env.DUPLICATE_ACROSS_CLIENTS_SECONDS,
    approvalExpiresAfterSeconds: env.APPROVAL_EXPIRES_AFTER_SECONDS,
    queueExpiresAfterSeconds: env.QUEUE_EXPIRES_AFTER_SECONDS,
    /** Public origins, in the form of URL.origin. Empty outside production: see `ownOriginReader`. */
    publicUrls: Object.freeze(env.PUBLIC_URL),
    /** CIDR blocks of reverse proxies whose X-Forwarded headers are trusted. */
    trustedProxies: Object.freeze(env.TRUSTED_PROXIES),
    requestDeadlineMs: env.REQUEST_DEADLINE_MS,
    maxItems: env.MAX_ITEMS,
    maxBodyBytes: env.MAX_BODY_BYTES,
    /** Undocumented fields that bodies may have. */
    extraFieldsAllowed: Object.freeze([...new Set(env.EXTRA_FIELDS_ALLOWED)]),
    /**
     * Whether a change that expands a client waits for a second person. Off by default with an embedded
     * database, which one person uses for evaluation.
     */
    dualControl:
      env.DUAL_CONTROL === undefined ? env.DATABASE_URL !== undefined : env.DUAL_CONTROL === 'true',
    /** Minutes of inactivity after which a console session ends. */
    consoleIdleMinutes: env.CONSOLE_IDLE_MINUTES,
    /** Maximum age of an identity provider's keys during its outage, in seconds. */
    providerKeysMaxAgeSeconds: env.PROVIDER_KEYS_MAX_AGE_SECONDS,
    /** The service that screens recipients before payment. Undefined disables screening. */
    screeningUrl: env.SCREENING_URL,
    /** The secret that signs requests to the screening service. */
    screeningSecret: env.SCREENING_SECRET === undefined ? undefined : new Secret(env.SCREENING_SECRET),
    screeningTimeoutMs: env.SCREENING_TIMEOUT_MS,
    reconciliation: Object.freeze(toReconciliation(env)),
    ...toDatabaseConfig(env),
    ...toEgressConfig(env),
    ...toSignInConfig(env),
    ...toUpstreamConfig(env, accounts),
    ...toWorkerConfig(env),
    /** The files that secrets were read from, by variable. */
    secretFiles,
    /** The recorded part of the configuration. */
    recorded: recordedConfiguration(env, accountValues),
  };
}

/** Returns the settings of the processes: the proxy, its worker and its sandbox. */
function toProcessConfig(env: Environment, given: Sources['given']) {
  const production = env.NODE_ENV === 'production';
  return {
    production,
    port: env.PORT,
    /** The port of /metrics. It may be `port`. In production, the usual port of Prometheus exporters. */
    metricsPort: env.METRICS_PORT ?? (production ? 9_464 : env.PORT),
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    logLevel: env.LOG_LEVEL,
    dataDir: resolve(env.DATA_DIR),
    /** Whether the proxy starts a worker process. */
    startWorker: env.START_WORKER === 'true',
    /** The port of a worker's probes and metrics. */
    workerPort: env.WORKER_PORT,
    /** Whether WORKER_PORT was set. If not, a worker of the proxy takes a free port. */
    workerPortGiven: 'WORKER_PORT' in given,
    /** Drain time after SIGTERM. The proxy reports not ready to its load balancer, and still serves. */
    drainMs: env.DRAIN_MS,
    sandboxPort: env.SANDBOX_PORT,
    /** Whether SANDBOX_PORT was set. Without it, an embedded sandbox takes a free port. */
    sandboxPortGiven: 'SANDBOX_PORT' in given,
    sandboxControlKey: new Secret(env.SANDBOX_CONTROL_KEY),
    /** The other SANDBOX_ variables, by name. The embedded sandbox reads and checks them itself. */
    sandboxBehaviour: Object.freeze(sandboxBehaviour(given)),
  };
}

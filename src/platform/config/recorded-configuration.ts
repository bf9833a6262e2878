import { Environment } from './environment/environment';
import { VARIABLES } from './environment/variables';
import { Secret } from './secrets/secret';
import { isSecretName } from './secrets/secret-files';

/** The settings that govern payments, by variable. Omits unset ones without a default. */
export type RecordedConfiguration = Readonly<Record<string, string>>;

/** Variables of one process, which may differ between instances. All others are recorded. */
const ABOUT_THE_PROCESS: readonly string[] = [
  'HOST',
  'PORT',
  'METRICS_PORT',
  'LOG_LEVEL',
  'DATA_DIR',
  'DRAIN_MS',
  'START_WORKER',
  'WORKER_PORT',
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_SEALER_URL',
  'DATABASE_SESSION_URL',
  'DATABASE_REPLICA_URL',
  'DATABASE_POOL_SIZE',
  'MIGRATE_ON_START',
  'CHECKPOINT_FILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SANDBOX_PORT',
  'SANDBOX_CONTROL_KEY',
] satisfies (keyof Environment)[];

/** Recorded by its own action, `dual_control_changed`. */
const RECORDED_ELSEWHERE: readonly string[] = ['DUAL_CONTROL'] satisfies (keyof Environment)[];

/**
 * Returns the recorded settings, with defaults. Secrets appear only as fingerprints.
 * @param ofAccounts the variables of upstream accounts other than `main`.
 */
export function recordedConfiguration(
  environment: Environment,
  ofAccounts: Readonly<Record<string, string>>,
): RecordedConfiguration {
  const left = [...ABOUT_THE_PROCESS, ...RECORDED_ELSEWHERE];
  // Foreign variables of the process may be secrets.
  const isOurs = (name: string) => Object.hasOwn(VARIABLES, name) && !left.includes(name);
  const entries = [
    ...Object.entries(environment).filter(([name]) => isOurs(name)),
    ...Object.entries(ofAccounts),
  ];
  return Object.freeze(Object.fromEntries(entries.map(([name, value]) => [name, textOf(name, value)])));
}

function textOf(name: string, value: unknown): string {
  if (isSecretName(name)) return new Secret(String(value)).fingerprint;
  if (value instanceof Map) return [...value].map(([key, one]) => `${key}=${one}`).join(',');
  return String(value); // a list gets commas, as in the environment
}

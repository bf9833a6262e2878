import { readFileSync, statSync } from 'node:fs';
import { codeOf } from '../../errors/error-code';

/** Variables that can be in a file, named by `<name>_FILE`. See also OF_ACCOUNT. */
export const SECRET_NAMES = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_SEALER_URL',
  'DATABASE_SESSION_URL',
  'DATABASE_REPLICA_URL',
  'LOG_SIGNING_KEY',
  'UPSTREAM_API_KEY',
  'UPSTREAM_WEBHOOK_SECRET',
  'SCREENING_SECRET',
  'OIDC_CLIENT_SECRET',
  'PAGE_CLIENT_SECRETS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'SANDBOX_CONTROL_KEY',
] as const;

/** Secrets of accounts, named after the variable of `main` with the same rules. */
const OF_ACCOUNT = /^UPSTREAM_ACCOUNT_\w+_(API_KEY|WEBHOOK_SECRET)$/;

type Given = Readonly<Record<string, string | undefined>>;

const MOST_BYTES = 65_536;

/** Returns whether a variable holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.some((secret) => secret === name) || OF_ACCOUNT.test(name);
}

/** Returns the variable whose rules apply to a secret. */
export function ruleOf(name: string): string {
  return name.replace(OF_ACCOUNT, 'UPSTREAM_$1');
}

/** Returns the name of the variable that names the file of a secret. */
export const fileVariableOf = (name: string) => `${name}_FILE`;

/**
 * Reads the secrets whose files the environment names.
 * @returns the environment with their values in place of the files, the files by secret, and their faults. A
 * fault names a variable, never a value or a file.
 */
export function readSecretFiles(given: Given): {
  values: Record<string, string | undefined>;
  files: Map<string, string>;
  faults: string[];
} {
  const values = { ...given };
  const files = new Map<string, string>();
  const faults: string[] = [];
  for (const [variable, file] of Object.entries(given)) {
    const name = variable.replace(/_FILE$/, '');
    if (name === variable || file === undefined || !isSecretName(name)) continue;
    delete values[variable];
    if (given[name] !== undefined) {
      faults.push(`${name} and ${variable} must not both be set`);
      continue;
    }
    try {
      values[name] = secretIn(file);
      files.set(name, file);
    } catch (error) {
      faults.push(`${variable} must name a file with the value (${reasonOf(error)})`);
    }
  }
  return { values, files, faults };
}

/** Returns the secret in a file, without a trailing line end. */
export function secretIn(file: string): string {
  const stat = statSync(file);
  if (!stat.isFile()) throw new UnusableFile('it is not a regular file'); // reading a pipe would wait forever
  if (stat.size > MOST_BYTES) throw new UnusableFile('it is too large');
  const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  if (secret === '') throw new UnusableFile('it is empty');
  return secret;
}

class UnusableFile extends Error {}

/** Returns the reason of a failure, without the file's name. */
export function reasonOf(error: unknown): string {
  return error instanceof UnusableFile ? error.message : (codeOf(error) ?? 'it cannot be read');
}

import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Config, StartError } from '../../platform/config/config';
import { writePrivateJson } from '../../platform/config/secrets/private-file';
import { Secret } from '../../platform/config/secrets/secret';
import { codeOf } from '../../platform/errors/error-code';
import { KeyRing, ringOf, newSigningKey, Signer, signerOf, verifierOf } from './note';

/** Name of the log in its checkpoints, unless a configured key has another name. */
const LOG_NAME = 'payout-proxy';

/** File of a generated key. It is outside the database, whose readers could otherwise sign. */
export const LOG_KEY_FILE = 'log-key.json';

interface RingSource {
  /** One key or several, newest first. */
  logSigningKey: Secret;
  logRetiredKeys?: readonly string[];
}

type KeySource = Pick<Config, 'logSigningKey' | 'dataDir'>;

/**
 * Returns the keys that sign the log: LOG_SIGNING_KEY, or a key that is generated once and kept in DATA_DIR.
 * @throws StartError if a key is invalid, or a new one cannot be stored.
 */
export function logKeyOf(config: KeySource & Pick<RingSource, 'logRetiredKeys'>): Secret {
  const logSigningKey = config.logSigningKey ?? storedKey(config.dataDir);
  logRingOf({ ...config, logSigningKey });
  return logSigningKey;
}

/** Returns the keys without generating one. Undefined before the first. */
export function knownLogKeyOf({ logSigningKey, dataDir }: KeySource): Secret | undefined {
  return logSigningKey ?? logKeyIn(dataDir);
}

/** @throws StartError that describes the fault of the keys, without quoting secrets. */
export function logRingOf({ logSigningKey, logRetiredKeys = [] }: RingSource): KeyRing<Signer> {
  const current = asConfigured('LOG_SIGNING_KEY', () =>
    logSigningKey
      .reveal()
      .split(/[\s,]+/)
      .map(signerOf),
  );
  const retired = asConfigured('LOG_RETIRED_KEYS', () => logRetiredKeys.map(verifierOf));
  return asConfigured('LOG_SIGNING_KEY', () => ringOf<Signer>(current, retired));
}

function asConfigured<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new StartError(`${name} is invalid. ${(error as Error).message}`);
  }
}

/**
 * Writes a key to the file in a folder, unless the file exists.
 * @throws StartError if it cannot be stored.
 */
export function keepLogKey(folder: string, key: Secret): void {
  const file = join(folder, LOG_KEY_FILE);
  if (!existsSync(file)) writeKey(folder, file, key.reveal());
}

/**
 * Returns the key in a folder, such as a backup. Undefined if it has none.
 * @throws StartError if the file cannot be read.
 */
export function logKeyIn(folder: string): Secret | undefined {
  const file = join(folder, LOG_KEY_FILE);
  return existsSync(file) ? readKey(file) : undefined;
}

function storedKey(dataDir: string): Secret {
  const file = join(dataDir, LOG_KEY_FILE);
  if (!existsSync(file)) writeKey(dataDir, file, newSigningKey(LOG_NAME));
  return readKey(file);
}

/** Writes the key file. The first of several processes wins, because a link never replaces a file. */
function writeKey(dataDir: string, file: string, signingKey: string): void {
  const own = `${file}.${process.pid}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    try {
      writePrivateJson(own, { signingKey });
      linkSync(own, file);
    } finally {
      rmSync(own, { force: true });
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && existsSync(file)) return;
    const text = `The signing key of the log cannot be stored in ${dataDir} (${code}).`;
    throw new StartError(`${text} Set LOG_SIGNING_KEY, or make DATA_DIR writable.`);
  }
}

function readKey(file: string): Secret {
  try {
    const { signingKey } = JSON.parse(readFileSync(file, 'utf8')) as { signingKey?: unknown };
    if (typeof signingKey === 'string') return new Secret(signingKey);
  } catch {
    // Reported below, without the content of the file.
  }
  const text = `The file ${file} contains no signing key or cannot be read.`;
  throw new StartError(`${text} Restore it from a backup, or set LOG_SIGNING_KEY.`);
}

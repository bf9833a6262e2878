import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Config, StartError } from '../../platform/config/config';
import { writePrivateJson } from '../../platform/config/private-file';
import { Secret } from '../../platform/config/secret';
import { newSigningKey, Signer, signerOf } from './note';

/** The name of the log in its checkpoints, if the operator configures no key with its own name. */
const LOG_NAME = 'payout-proxy';

/** The file of a generated key. It is not in the database, because anyone with the database could then sign. */
const FILE = 'log-key.json';

type KeySource = Pick<Config, 'logSigningKey' | 'dataDir'>;

/**
 * Returns the key that signs the log: LOG_SIGNING_KEY, or a key that is generated once and kept in DATA_DIR.
 * @throws StartError if the key is invalid, or if there is none and none can be stored.
 */
export function logKeyOf(config: KeySource): Secret {
  const key = config.logSigningKey ?? keptKey(config.dataDir);
  signerFrom(key);
  return key;
}

/** Returns the key without generating one. Undefined if there is none yet. */
export function knownLogKeyOf({ logSigningKey, dataDir }: KeySource): Secret | undefined {
  return logSigningKey ?? (existsSync(join(dataDir, FILE)) ? readKey(join(dataDir, FILE)) : undefined);
}

/** @throws StartError that says what is wrong with the key, without quoting it. */
export function signerFrom(key: Secret): Signer {
  try {
    return signerOf(key.reveal());
  } catch (error) {
    throw new StartError(`LOG_SIGNING_KEY is invalid. ${(error as Error).message}`);
  }
}

function keptKey(dataDir: string): Secret {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) makeKey(dataDir, file);
  return readKey(file);
}

/** If several processes start on one DATA_DIR, the key of the first one stays: a link never replaces a file. */
function makeKey(dataDir: string, file: string): void {
  const own = `${file}.${process.pid}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    try {
      writePrivateJson(own, { signingKey: newSigningKey(LOG_NAME) });
      linkSync(own, file);
    } finally {
      rmSync(own, { force: true });
    }
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EEXIST' && existsSync(file)) return;
    throw new StartError(
      `The signing key of the log cannot be stored in ${dataDir} (${code}). Set LOG_SIGNING_KEY, or make DATA_DIR writable.`,
    );
  }
}

function readKey(file: string): Secret {
  try {
    const { signingKey } = JSON.parse(readFileSync(file, 'utf8')) as { signingKey?: unknown };
    if (typeof signingKey === 'string') return new Secret(signingKey);
  } catch {
    // reported below, without the content of the file
  }
  throw new StartError(
    `The file ${file} contains no signing key or cannot be read. Restore it from a backup, or set LOG_SIGNING_KEY.`,
  );
}

import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Config, StartError } from '../../platform/config/config';
import { writePrivateJson } from '../../platform/config/private-file';
import { Secret } from '../../platform/config/secret';
import { newSigningKey, Signer, signerOf } from './note';

/** Names the log in its checkpoints, where the operator gives no key with a name of its own. */
const LOG_NAME = 'payout-proxy';

/** Where a key that nobody gave is kept. Of a server without one, anybody who has its database could be the signer. */
const FILE = 'log-key.json';

type KeySource = Pick<Config, 'logSigningKey' | 'dataDir'>;

/**
 * The key that signs the log: LOG_SIGNING_KEY, or one that is made once and kept in DATA_DIR, outside the database.
 * @throws StartError if it is no key, or there is none and none can be kept.
 */
export function logKeyOf(config: KeySource): Secret {
  const key = config.logSigningKey ?? keptKey(config.dataDir);
  signerFrom(key);
  return key;
}

/** The same, without making one: undefined if none was given and none was made yet. */
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

/** Of processes that start together on one DATA_DIR the first one's stays: a link is never put over what is there. */
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
    // said below, without what the file holds
  }
  throw new StartError(
    `The file ${file} contains no signing key or cannot be read. Restore it from a backup, or set LOG_SIGNING_KEY.`,
  );
}

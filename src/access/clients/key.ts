import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32; // 62^32: 190 bits
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const EPHEMERAL = 'ppe_';
const CLAIM = 'ppc_';

/** SQL: whether a key `k` (api_key) is valid now. */
export const OPENS = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())';

/** A key with its checksum. docs/operate/clients.md gives this pattern to secret scanners. */
const KEY = new RegExp(`^pp[ce]?_[a-z0-9][a-z0-9-]{0,39}_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Generates a key, `pp_<client>_<random>`. Its last 6 characters are a checksum of the rest. It is shown
 * once, and only its SHA-256 is stored.
 */
export function newKey(clientName: string): string {
  return generate(`pp_${clientName}_`);
}

/** Generates an ephemeral key, `ppe_<client>_<random>`. Otherwise it has the form of other keys. */
export function newEphemeralKey(clientName: string): string {
  return generate(`${EPHEMERAL}${clientName}_`);
}

/**
 * Generates a claim code, `ppc_<client>_<random>`. A person exchanges it once for their key, nothing else.
 */
export function newClaimCode(clientName: string): string {
  return generate(`${CLAIM}${clientName}_`);
}

/** Returns whether text has the form and the checksum of a claim code. */
export function isWellFormedClaimCode(text: string): boolean {
  return text.startsWith(CLAIM) && isWellFormedKey(text);
}

/** Returns whether a well-formed key is ephemeral. */
export function isEphemeralKey(key: string): boolean {
  return key.startsWith(EPHEMERAL);
}

function generate(prefix: string): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const body = `${prefix}${random}`;
  return `${body}${checksumOf(body)}`;
}

/**
 * Returns whether text has the form and the checksum of a key. Rejects mistyped, truncated and made-up keys
 * without a query. Secret scanners use the same checksum to recognize keys.
 */
export function isWellFormedKey(text: string): boolean {
  return KEY.test(text) && text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Returns the CRC-32 in base 62, as in the tokens of GitHub. */
function checksumOf(text: string): string {
  let [rest, digits] = [crc32(text), ''];
  while (digits.length < CHECKSUM_LENGTH) {
    digits = `${ALPHABET[rest % ALPHABET.length]}${digits}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

/** Hashes a key. A key is random, so SHA-256 suffices. A slow password hash would only delay requests. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Returns the hash of a key without a secret. */
export function hashOfNothing(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(32));
}

import { hash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32; // 62^32: 190 bits

/** Generates a key, `pp_<client>_<random>`. It is shown once, and only its SHA-256 is stored. */
export function newKey(clientName: string): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `pp_${clientName}_${random}`;
}

/**
 * Hashes a key. SHA-256 is enough against guessing, because a key is random. A slow password hash would only slow each
 * request.
 */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

import { createHash, hash, Hash, randomBytes } from 'node:crypto';

/** 128 bits, so that equal values look different, and phone numbers cannot be found by trial. */
export const SALT_BYTES = 16;

/** Salts per block. A call needs one per item, and a system call for each would cost more than hashing. */
const SALTS_AT_ONCE = 256;

let salts = Buffer.alloc(0);

export function newSalt(): Buffer {
  if (salts.length === 0) salts = randomBytes(SALTS_AT_ONCE * SALT_BYTES);
  const salt = salts.subarray(0, SALT_BYTES);
  salts = salts.subarray(SALT_BYTES);
  return salt;
}

/** A buffer for short values behind their salts. UTF-8 has at most three bytes for each UTF-16 unit. */
const room = Buffer.alloc(4_096);
const SHORT = Math.floor((room.length - SALT_BYTES) / 3);

/**
 * Returns SHA-256(salt || value). Records keep this commitment, so that the personal data itself can be
 * erased. The SQL function is_committed() computes the same.
 */
export function commitment(salt: Buffer, value: Buffer | string): Buffer;
export function commitment(salt: Buffer, value: Buffer | string | null): Buffer | null;
export function commitment(salt: Buffer, value: Buffer | string | null): Buffer | null {
  if (value === null) return null;
  const short = joined(salt, value);
  return short ? hash('sha256', short, 'buffer') : longHash(salt, value).digest();
}

/** Returns a commitment in hex, in half the time. */
export function hexCommitment(salt: Buffer, value: Buffer | string): string {
  const short = joined(salt, value);
  return short ? hash('sha256', short, 'hex') : longHash(salt, value).digest('hex');
}

/**
 * Returns a salt and its value in a shared buffer. Its hash takes a quarter of the time for values as short
 * as a phone number. Undefined for a long value.
 */
function joined(salt: Buffer, value: Buffer | string): Buffer | undefined {
  if (salt.length !== SALT_BYTES || value.length > SHORT) return undefined;
  room.set(salt);
  const length = typeof value === 'string' ? room.write(value, SALT_BYTES) : value.copy(room, SALT_BYTES);
  return room.subarray(0, SALT_BYTES + length);
}

function longHash(salt: Buffer, value: Buffer | string): Hash {
  return createHash('sha256').update(salt).update(value);
}

/** Returns Postgres' text form of a bytea, for rows in JSON. */
export function hex(bytes: Buffer | null): string | null {
  return bytes === null ? null : `\\x${bytes.toString('hex')}`;
}

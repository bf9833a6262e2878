import { createHash, randomBytes } from 'node:crypto';

/** 128 bits: two equal values never show as equal, and a phone number cannot be found by trying them all. */
const SALT_BYTES = 16;

export function newSalt(): Buffer {
  return randomBytes(SALT_BYTES);
}

/** SHA-256(salt || value): what a record keeps of personal data, so that the data can go and the record stay. */
export function commitment(salt: Buffer, value: Buffer | string | null): Buffer | null {
  return value === null ? null : createHash('sha256').update(salt).update(value).digest();
}

/** Postgres' text form of a bytea, for rows that travel as JSON. */
export function hex(bytes: Buffer | null): string | null {
  return bytes === null ? null : `\\x${bytes.toString('hex')}`;
}

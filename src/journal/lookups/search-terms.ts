import { createHash } from 'node:crypto';
import { canonicalCountry } from '../../recipients/country-name';
import { kindOfKey } from '../../recipients/recipient';

/**
 * The tags of the terms and names in the payout search index. A term is a tag and a value: `network:MTN`. The
 * view `call_entry` writes those of each record. Names are found by their hashes (search-names.ts).
 */
export const TAGS = {
  /** In its canonical form (countryTerm). */
  country: 'country:',
  network: 'network:',
  /** A name. */
  reference: 'reference:',
  /** A name. */
  request: 'request:',
  /** A name. */
  idempotency: 'idempotency:',
  /** Any ID of a transaction: a name, and a term for IDs of batches and those without a certain payout. */
  ref: 'ref:',
  /** The canonical key of an email, phone number or handle. Payments have canonical names except for case. */
  to: 'to:',
  receiver: 'receiver:',
  /** The beginning of a contact or receiver, in lower case. */
  beginning: '^',
} as const;

/** Lengths of the beginnings that are terms, in characters, as in the SQL function search_beginnings(). */
export const BEGINNINGS = [3, 5, 7] as const;

/** Length of the beginning that is a name, in characters. */
export const NAMED_BEGINNING = 10;

/**
 * Returns the replacement of an erased idempotency key. Its term still finds the call, so an app that looks
 * for its payment does not conclude that it was never made. Mirrors the SQL function hashed_key().
 */
export function hashedKey(key: string): string {
  return `sha256 ${createHash('sha256').update(key).digest('hex')}`;
}

/** Longest value in bytes. An index key has a limit of 2,712. */
const LONGEST = 300;
const KEPT = 200;

/** Returns a term. Hashes a value that is too long for the index. Mirrors the SQL function search_term(). */
export function termOf(tag: string, value: string): string {
  if (Buffer.byteLength(value) <= LONGEST && !value.includes('\n')) return tag + value;
  // A character outside the basic plane counts as one, as in Postgres.
  const beginning = [...value.slice(0, 2 * KEPT)].slice(0, KEPT).join('').replaceAll('\n', ' ');
  return `${tag}${beginning}#${createHash('sha256').update(value).digest('hex')}`;
}

/** Returns the term of a recipient. @param key its canonical key. */
export function recipientTerm(key: string): string {
  return termOf(kindOfKey(key) === 'receiver' ? TAGS.receiver : TAGS.to, key);
}

/** Returns the term of a country in any spelling. */
export function countryTerm(country: string): string {
  return termOf(TAGS.country, canonicalCountry(country));
}

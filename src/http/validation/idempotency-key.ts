import { Problem } from '../../platform/errors/problem';
import { keyNamesContact } from '../../platform/privacy/contacts';
import { looksLikePhone, spellsOneOf } from '../../platform/privacy/phone-numbers';

/** A string of RFC 8941, section 3.3.3, as in the draft. Most clients send the bare characters instead. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

const CONTAINS_CONTACT =
  'Idempotency-Key must not contain an email address, a phone number, or a handle. Use an ID of your ' +
  'own, or a UUID.';

/** Printable ASCII without spaces. A header that was sent twice arrives with a comma and a space. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads an `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header-07, section 2.1). `"k-1"` and
 * `k-1` are the same key. It must not contain a contact. Digits may be an order number, so a phone number
 * without + is rejected only if the request pays to it. Another one can be erased.
 * @param phones of the people in the request, in international form.
 * @throws Problem `invalid_idempotency_key`.
 */
export function readIdempotencyKey(header: string | undefined, phones: string[] = []): string | null {
  if (header === undefined) return null;
  const key = keyIn(header);
  if (key === null) throw new Problem('invalid_idempotency_key');
  if (keyNamesContact(key) || spellsOneOf(key, phones)) {
    throw new Problem('invalid_idempotency_key', { text: CONTAINS_CONTACT });
  }
  return key;
}

/**
 * Returns the key for the record of a rejected request. Null if it may not be stored. A key that looks like a
 * phone number is omitted, because the phone numbers in the request may be unknown.
 */
export function recordedKey(header: string | undefined): string | null {
  const key = keyIn(header);
  return key === null || keyNamesContact(key) || looksLikePhone(key) ? null : key;
}

/** Parses the header. Returns null if it is not a valid key. */
export function keyIn(header: string | undefined): string | null {
  if (header === undefined) return null;
  const quoted = QUOTED.exec(header);
  const key = quoted ? (quoted[1] ?? '').replace(/\\(["\\])/g, '$1') : header;
  return KEY.test(key) ? key : null;
}

const CALL_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads the header `Allow-Duplicate-Of`: the call that a request repeats on purpose.
 * @returns its ID, or null without the header.
 * @throws Problem `invalid_allow_duplicate_of`, also if the header was sent twice.
 */
export function readAllowDuplicateOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!CALL_ID.test(header)) throw new Problem('invalid_allow_duplicate_of');
  return header.toLowerCase();
}

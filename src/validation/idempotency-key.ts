import { Problem } from '../errors/problem';

/** A string of RFC 8941, section 3.3.3, as the draft has it, or the bare characters, as most clients send it. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** Printable ASCII without blanks: what was sent twice arrives with a comma and a blank in between. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The key in an `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header-07, section 2.1); `"k-1"` and `k-1` are
 * the same key.
 * @throws Problem `invalid_idempotency_key`.
 */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  const key = keyIn(header);
  if (key === null) throw new Problem('invalid_idempotency_key');
  return key;
}

/** The same, null where it is no key. */
export function keyIn(header: string | undefined): string | null {
  if (header === undefined) return null;
  const quoted = QUOTED.exec(header);
  const key = quoted ? (quoted[1] ?? '').replace(/\\(["\\])/g, '$1') : header;
  return KEY.test(key) ? key : null;
}

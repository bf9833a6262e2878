import { VerificationError } from './errors.ts';
import { fromBase64, utf8, joined } from './proofs/bytes.ts';

/** Headers of a request, of any runtime. Names are matched in any case. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

export interface EventOptions {
  /** How far the event's time may be from now, in seconds. */
  toleranceSeconds?: number;
  /** The time, for tests. */
  now?: Date;
}

/** A signed event whose signature holds. */
export interface VerifiedEvent {
  /** The same in each delivery of the event. Ignore an ID that you have seen. */
  id: string;
  /** When it was sent. */
  at: Date;
  /** The body, parsed from JSON. */
  payload: unknown;
}

const USUAL_TOLERANCE_SECONDS = 300;
const LEAST_KEY_BYTES = 24;
/** A sender that changes its secret signs with both. Nobody needs more than a few. */
const MOST_SIGNATURES = 8;

const ID = /^[\x21-\x7e]{1,255}$/;
const SECONDS = /^\d{1,11}$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * Checks the signature of an event (Standard Webhooks, symmetric): `v1,` and the base64 HMAC-SHA256 of
 * `{id}.{timestamp}.{body}`.
 * @param body exactly as it arrived. A body that was parsed and written again has another signature.
 * @param secrets `whsec_<base64>`. While a secret is being changed, pass both.
 * @throws VerificationError if the event is not signed with one of the secrets, or is too old.
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceSeconds = USUAL_TOLERANCE_SECONDS, now = new Date() }: EventOptions = {},
): Promise<VerifiedEvent> {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((part) =>
    headerIn(headers, `webhook-${part}`),
  );
  if (!id || !ID.test(id) || !timestamp || !SECONDS.test(timestamp) || !signature) {
    throw new VerificationError(
      'The event is not signed: webhook-id, webhook-timestamp or webhook-signature is missing.',
    );
  }
  const bytes = typeof body === 'string' ? utf8(body) : body;
  const signed = joined(utf8(`${id}.${timestamp}.`), bytes);
  const given = signature
    .split(' ', MOST_SIGNATURES)
    .flatMap((one) => fromBase64(SIGNATURE.exec(one)?.[1] ?? '') ?? []);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const pairs = keys.flatMap((key) => given.filter(({ length }) => length > 0).map((one) => ({ key, one })));
  const checks = pairs.map(({ key, one }) => crypto.subtle.verify('HMAC', key, one, signed));
  if (!(await Promise.all(checks)).includes(true)) {
    throw new VerificationError('The signature of this event does not match the secret.');
  }
  const at = new Date(Number(timestamp) * 1_000);
  if (Math.abs(now.getTime() - at.getTime()) > toleranceSeconds * 1_000) {
    throw new VerificationError(
      `The event was sent more than ${toleranceSeconds} seconds before or after now.`,
    );
  }
  return { id, at, payload: JSON.parse(new TextDecoder().decode(bytes)) as unknown };
}

async function keyOf(secret: string) {
  const encoded = SECRET.exec(secret)?.[1];
  const bytes = encoded === undefined ? utf8(secret) : fromBase64(encoded);
  if (bytes === undefined || bytes.length < LEAST_KEY_BYTES) {
    throw new TypeError(`The secret must be "whsec_" and the base64 of at least ${LEAST_KEY_BYTES} bytes.`);
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function headerIn(headers: HeadersLike, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? undefined : value;
}

import { VerificationError } from './errors.ts';
import { fromBase64, utf8, joined } from './proofs/bytes.ts';

/** Headers of a request of any runtime, with names in any case. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

/** Options of `verifyEvent`. */
export interface EventOptions {
  /** Maximum difference between the event's time and now, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** Current time, for tests. */
  now?: Date;
}

/** An event with a valid signature. */
export interface VerifiedEvent {
  /** ID of all deliveries of the event. Ignore an ID that you have processed. */
  id: string;
  /** Time of the delivery. */
  at: Date;
  /** Body, parsed from JSON. */
  payload: unknown;
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const LEAST_KEY_BYTES = 24;
/** Bound of the checks. A sender that changes its secret signs with two. */
const MAX_SIGNATURES = 8;

const ID = /^[\x21-\x7e]{1,255}$/;
const SECONDS = /^\d{1,11}$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * Checks the signature of an event (Standard Webhooks, symmetric): `v1,` and the base64 HMAC-SHA256 of
 * `{id}.{timestamp}.{body}`.
 * @param body unchanged body. A parsed and rewritten body has another signature.
 * @param secrets `whsec_<base64>`, or both secrets during a change.
 * @throws VerificationError if no secret signed the event, or its time is too far from now.
 * @example
 * const { id, payload } = await verifyEvent(rawBody, request.headers, process.env.EVENTS_SECRET);
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = new Date() }: EventOptions = {},
): Promise<VerifiedEvent> {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((part) =>
    headerIn(headers, `webhook-${part}`),
  );
  if (!id || !ID.test(id) || !timestamp || !SECONDS.test(timestamp) || !signature) {
    const names = 'webhook-id, webhook-timestamp or webhook-signature';
    throw new VerificationError(`The event is not signed: ${names} is missing or invalid.`);
  }
  const bytes = typeof body === 'string' ? utf8(body) : body;
  const content = joined(utf8(`${id}.${timestamp}.`), bytes);
  const signatures = signature
    .split(' ', MAX_SIGNATURES)
    .flatMap((part) => fromBase64(SIGNATURE.exec(part)?.[1] ?? '') ?? []);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const checks = keys.flatMap((key) =>
    signatures
      .filter(({ length }) => length > 0)
      .map((mac) => crypto.subtle.verify('HMAC', key, mac, content)),
  );
  if (!(await Promise.all(checks)).includes(true)) {
    throw new VerificationError('The signature of the event does not match the secret.');
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

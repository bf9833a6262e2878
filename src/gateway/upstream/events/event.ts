import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { NewUpstreamEvent } from '../../../journal/reconciliation/worker-tasks';
import { webhookKeyOf } from '../../../platform/config/secrets/webhook-key';
import { clock } from '../../../platform/database/clock';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from '../answers/answer';
import { readAmount, readText } from '../answers/transactions';

/** The signed parts of an event. Do not trust them before checking the signature. */
export interface SignedParts {
  /** The event's ID, the same in each delivery. */
  id: string;
  at: Date;
}

/** Reason for rejecting an event. */
type EventFault = 'unsigned' | 'stale';

/** Tolerance of Standard Webhooks. An older event may be a replay. A newer one has a wrong clock. */
export const TOLERANCE_MS = 300_000;

/** Both families of names were seen (docs/reference/upstream.md, "Events"). */
const FAMILIES = ['webhook', 'svix'];
const ID = /^[\x21-\x7e]{1,255}$/;
const SECONDS = /^\d{1,11}$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;

/** Above the two signatures during a rotation of secrets. */
const MAX_SIGNATURES = 8;

/**
 * Checks the signature of an event: `v1,` and the base64 HMAC-SHA256 of `{id}.{timestamp}.{body}`. The key is
 * the decoded part of a secret `whsec_<base64>`, or the bytes of another secret (Standard Webhooks).
 */
export function verifyEvent(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  now: Date = clock.now(),
): SignedParts | EventFault {
  const family = FAMILIES.find((name) => headers[`${name}-signature`] !== undefined);
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((part) =>
    String(headers[`${family}-${part}`]),
  );
  if (!id || !ID.test(id) || !timestamp || !SECONDS.test(timestamp) || !signatures) return 'unsigned';
  const expected = createHmac('sha256', webhookKeyOf(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  const sent = signatures.split(' ', MAX_SIGNATURES).flatMap((text) => SIGNATURE.exec(text)?.[1] ?? []);
  if (!sent.some((signature) => timingSafeEqual(Buffer.from(signature, 'base64'), expected)))
    return 'unsigned';
  const at = new Date(Number(timestamp) * 1_000);
  return Math.abs(now.getTime() - at.getTime()) > TOLERANCE_MS ? 'stale' : { id, at };
}

/** The content of an event, with our names. */
type EventContent = Omit<NewUpstreamEvent, 'id' | 'account' | 'eventId' | 'signedAt'>;

/** Reads the body of an event (docs/reference/upstream.md, "Events"). Ignores other fields. Never throws. */
export function readEvent(body: Buffer): EventContent {
  const event = parseJson(body);
  const fields = isObject(event) ? event : {};
  const meta = isObject(fields.meta) ? fields.meta : {};
  return {
    eventType: readText(fields.eventType),
    batchRef: readText(fields.issueID),
    upstreamId: readText(meta.id),
    upstreamRef: readText(fields.chiRef),
    status: readText(fields.status),
    amountUsd: readAmount(fields.amount),
  };
}

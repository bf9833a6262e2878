import { createHmac } from 'node:crypto';
import Decimal from 'decimal.js';
import { Behaviour } from '../behaviour';
import { shownStatus } from '../transactions/shown-status';

/** A status change to send, with the facts about its transaction. */
export interface DueEvent {
  id: string;
  status: string;
  transactionId: string;
  chiRef: string;
  issueID: string;
  type: string;
  valueInUSD: Decimal.Value;
  /** How many delivery attempts were made since it was created or requested again. */
  tries: number;
  dueAt: Date;
  /** The own address of its account, and the secret. Null: those of the settings. */
  url: string | null;
  secret: string | null;
}

const BASE64_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const NUMERIC_DIGITS = 12; // Hexadecimal: as many digits as a JSON number keeps exactly.

/**
 * Returns the body of an event (docs/reference/upstream.md, "Events"). A careful client uses `meta.id` to read the
 * status back. With `numericChiRefInEvents`, the chiRef is the number of its first hexadecimal digits (trap 4). With
 * `newStatusWords`, the status is the newer word (trap 10). The setting `words.events` may name yet another.
 */
export function eventBody(event: DueEvent, { quirks, words }: Behaviour): string {
  const { issueID, chiRef, transactionId, type, valueInUSD } = event;
  const status = shownStatus(event.status, quirks, words.events);
  return JSON.stringify({
    eventType: `transaction.${status}`,
    issueID,
    status,
    chiRef: quirks.numericChiRefInEvents ? parseInt(chiRef.replaceAll('-', '').slice(0, NUMERIC_DIGITS), 16) : chiRef,
    amount: new Decimal(valueInUSD).toNumber(),
    meta: { id: transactionId, type },
  });
}

/** Returns the headers that sign a delivery, under both of the observed names. `at` is its time. */
export function signatureHeaders(id: string, body: string, secret: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  const values = { id, timestamp, signature: `v1,${mac}` };
  return Object.fromEntries(
    ['svix', 'webhook'].flatMap((name) => Object.entries(values).map(([part, value]) => [`${name}-${part}`, value])),
  );
}

function keyOf(secret: string): Buffer {
  const encoded = BASE64_SECRET.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

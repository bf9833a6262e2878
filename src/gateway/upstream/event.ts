import { Decimal } from 'decimal.js';
import { NewUpstreamEvent } from '../../journal/upstream-events';

const MAX_TEXT = 255;
/** Larger than any payout, and too large for every column. Larger amounts are ignored. */
const MAX_AMOUNT = new Decimal('1e15');

/** The content of an event, with our names. */
type EventContent = Omit<NewUpstreamEvent, 'id' | 'eventId' | 'signedAt'>;

/** Reads the body of an event (docs/reference/upstream.md, "Events"). It never throws, and ignores other fields. */
export function readEvent(body: unknown): EventContent {
  const fields = isObject(body) ? body : {};
  const meta = isObject(fields.meta) ? fields.meta : {};
  return {
    eventType: text(fields.eventType),
    batchRef: text(fields.issueID),
    upstreamId: text(meta.id),
    // A number (trap 4) cannot be looked up as a reference. It is kept as received.
    upstreamRef: typeof fields.chiRef === 'number' ? String(fields.chiRef) : text(fields.chiRef),
    status: text(fields.status),
    amountUsd: amount(fields.amount),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Removes characters that no column can hold: NUL, and half a surrogate pair. */
function text(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return Buffer.from(value.slice(0, MAX_TEXT).replaceAll('\0', '')).toString('utf8');
}

function amount(value: unknown): Decimal | null {
  if (typeof value !== 'number' && (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,18})?$/.test(value))) return null;
  const decimal = new Decimal(value);
  return decimal.isFinite() && decimal.abs().lt(MAX_AMOUNT) ? decimal : null;
}

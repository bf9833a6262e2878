import { Decimal } from 'decimal.js';
import { NewUpstreamEvent } from '../../journal/records';

const MAX_TEXT = 255;
/** Larger than any payout, and what no column could hold: an amount like that says nothing. */
const MAX_AMOUNT = new Decimal('1e15');

/** What an event says, in our names. */
export type EventContent = Omit<NewUpstreamEvent, 'id' | 'eventId' | 'signedAt'>;

/** Reads the body of an event (docs/reference/upstream.md, "Events"). It never throws, and other fields are not read. */
export function readEvent(body: unknown): EventContent {
  const fields = isObject(body) ? body : {};
  const meta = isObject(fields.meta) ? fields.meta : {};
  return {
    eventType: text(fields.eventType),
    batchRef: text(fields.issueID),
    upstreamId: text(meta.id),
    // A number (trap 4) is no reference that could be asked for; it is kept as it came.
    upstreamRef: typeof fields.chiRef === 'number' ? String(fields.chiRef) : text(fields.chiRef),
    status: text(fields.status),
    amountUsd: amount(fields.amount),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What no column can hold (NUL, half a surrogate pair) is taken out. */
function text(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return Buffer.from(value.slice(0, MAX_TEXT).replaceAll('\0', '')).toString('utf8');
}

function amount(value: unknown): Decimal | null {
  if (typeof value !== 'number' && (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,18})?$/.test(value))) return null;
  const decimal = new Decimal(value);
  return decimal.isFinite() && decimal.abs().lt(MAX_AMOUNT) ? decimal : null;
}

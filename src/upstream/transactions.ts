import { Decimal } from 'decimal.js';
import { isObject, parseJson } from './answer';

/** A transaction as the upstream's answers show it (upstream-observed.md, "Transaction record"); nothing in it is certain. */
export interface Transaction {
  chiRef: string | null;
  id: string | null;
  issueId: string | null;
  /** The upstream's own word, in its own case. */
  status: string | null;
  amountUsd: Decimal | null;
  /** Its e-mail, phone and handle, as far as it names them. */
  recipients: string[];
}

/** Larger than any payout and small enough for every column: more is nonsense, and nonsense must not cost us the record. */
const MAX_AMOUNT = new Decimal('1e15');
const MAX_AMOUNT_LENGTH = 40;

/** As many as the largest request has items: an answer that names more must not cost more than it. */
const MAX_TRANSACTIONS = 10_000;

/** The transactions an answer names, in its order. It never throws, whatever the bytes. */
export function transactionsIn(body: Buffer): Transaction[] {
  const envelope = parseJson(body);
  if (!isObject(envelope)) return [];
  const { data } = envelope;
  const inner = isObject(data) ? data.data : undefined;
  const lists = [data, inner, isObject(data) ? data.credits : undefined];
  const list = lists.find((candidate) => Array.isArray(candidate) && candidate.some(isTransaction)) as
    unknown[] | undefined;
  const found = list ?? [inner, data].filter(isTransaction);
  return found
    .filter(isTransaction)
    .slice(0, list ? MAX_TRANSACTIONS : 1)
    .map(read);
}

function isTransaction(value: unknown): value is Record<string, unknown> {
  return isObject(value) && (value.chiRef !== undefined || value.tnxID !== undefined);
}

function read(value: Record<string, unknown>): Transaction {
  return {
    chiRef: text(value.chiRef),
    id: text(value.id) ?? text(value.tnxID), // a transfer's
    issueId: text(value.issueID),
    status: text(value.status),
    amountUsd: amount(value.valueInUSD),
    recipients: [value.email, value.phoneNumber, value.phone_number, value.phone, value.twitter].flatMap(
      (name) => text(name) ?? [],
    ),
  };
}

/** `chiRef` was seen as a number too (trap 4). What no column can hold (NUL, half a surrogate pair) is taken out. */
function text(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value === '') return null;
  return Buffer.from(value.slice(0, 255).replaceAll('\0', '')).toString('utf8');
}

/** Amounts come as numbers or as text (trap 3). */
function amount(value: unknown): Decimal | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  if (String(value).length > MAX_AMOUNT_LENGTH) return null;
  try {
    const decimal = new Decimal(value);
    return decimal.abs().lt(MAX_AMOUNT) && decimal.decimalPlaces() <= 18 ? decimal : null;
  } catch {
    return null;
  }
}

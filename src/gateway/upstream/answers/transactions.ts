import { Decimal } from 'decimal.js';
import { readWrittenId } from '../../../operations/catalogue/payout-id';
import { plainWord } from '../../../operations/lifecycle/statuses';
import { isUuid } from '../../../platform/database/uuid';
import { isObject } from '../../../platform/json/is-object';
import { recipientKey, RecipientKind } from '../../../recipients/recipient';
import { parseJson } from './answer';
import { TRANSACTION_FIELDS, TransactionField } from './fields';
import { readTime } from './times';

/**
 * A transaction in an answer (docs/reference/upstream.md, "Transaction record"). Every field may be missing.
 */
export interface Transaction {
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  issuedAt: Date | null;
  /** The upstream's own word, unless `TYPES` translates it. */
  type: string | null;
  /** The upstream's status, in its own case. */
  status: string | null;
  amountUsd: Decimal | null;
  feeUsd: Decimal | null;
  email: string | null;
  phone: string | null;
  handle: string | null;
  /** For a transfer: the receiving account. */
  receiver: string | null;
  country: string | null;
  networkCode: string | null;
  /** The caller's reference, or the ID that the proxy wrote into its description or notes. */
  reference: string | null;
  /** The canonical keys of the recipient's names. */
  recipients: string[];
}

/** Above any payout, and in the range of every column. Larger amounts are ignored, so no record fails. */
const MAX_AMOUNT = 1e15;

/** Items of the largest request. Bounds the cost of an answer with more transactions. */
const MAX_TRANSACTIONS = 10_000;

/** Reads the transactions of an answer: `data.data` and `data.credits`. Never throws on any bytes. */
export function transactionsIn(body: Buffer): Transaction[] {
  const envelope = parseJson(body);
  if (!isObject(envelope)) return [];
  const { data } = envelope;
  const { data: inner, credits } = isObject(data) ? data : {};
  const listed = [...transactionsOf(inner), ...transactionsOf(credits)];
  const records = listed.length > 0 ? listed : transactionsOf(data);
  return distinct(records.slice(0, MAX_TRANSACTIONS).map(readTransaction));
}

function transactionsOf(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isTransaction);
}

/**
 * Removes repetitions: records with the same `chiRef` or `id` are one transaction. If their statuses differ,
 * it has both words, which no vocabulary knows.
 */
function distinct(transactions: Transaction[]): Transaction[] {
  const byRef = new Map<string | null, Transaction>();
  const byId = new Map<string | null, Transaction>();
  return transactions.filter((one) => {
    const { upstreamRef: ref, upstreamId: id } = one;
    const first = byRef.get(ref) ?? byId.get(id);
    if (first) first.status = bothWords(first.status, one.status);
    else {
      if (ref !== null) byRef.set(ref, one);
      if (id !== null) byId.set(id, one);
    }
    return !first;
  });
}

function bothWords(one: string | null, other: string | null): string | null {
  if (one === null || other === null || plainWord(one) === plainWord(other)) return one ?? other;
  return one.includes(AND) ? one : one + AND + other;
}

const AND = ' and ';

function isTransaction(value: unknown): value is Record<string, unknown> {
  return isObject(value) && (value.chiRef !== undefined || value.tnxID !== undefined);
}

/** Reads one record. A missing or invalid field is null. Never throws. */
export function readTransaction(record: unknown): Transaction {
  const value = isObject(record) ? record : {};
  const [email, handle] = [readText(value.email), readText(value.twitter)];
  const phones = textsOf(value.phoneNumber, value.phone_number, value.phone);
  const transfer = transferName(value.tnxID);
  return {
    upstreamRef: readText(value.chiRef) ?? transfer.ref,
    upstreamId: readText(value.id) ?? transfer.id,
    batchRef: readText(value.issueID),
    issuedAt: readTime(value.issueDate),
    type: typeOf(value.type),
    status: readText(value.status),
    amountUsd: readAmount(value.valueInUSD),
    feeUsd: readAmount(value.fee),
    email,
    handle,
    phone: phones[0] ?? null,
    receiver: readText(value.receiver),
    country: readText(value.countryToSend) ?? readText(value.country),
    networkCode: readText(value.momoCode),
    reference: readText(value.reference) ?? readWrittenId(value.description) ?? readWrittenId(value.meta),
    recipients: [
      keyOf('email', email),
      ...phones.map((phone) => keyOf('phone', phone)),
      keyOf('handle', handle),
    ].filter((key) => key !== null),
  };
}

/** Reads the name of a transfer: its `chiRef`, which is a UUID, or else its `id`. */
function transferName(value: unknown): { ref: string | null; id: string | null } {
  const name = readText(value);
  return name !== null && isUuid(name) ? { ref: name, id: null } : { ref: null, id: name };
}

/** Returns the different texts. Most transactions repeat their phone number. */
function textsOf(...values: unknown[]): string[] {
  const texts: string[] = [];
  for (const value of values) {
    const text = readText(value);
    if (text !== null && !texts.includes(text)) texts.push(text);
  }
  return texts;
}

function keyOf(kind: RecipientKind, name: string | null): string | null {
  return name === null ? null : recipientKey(kind, name);
}

/** Reads a transaction with our field names, such as a line of a statement. Reads values as in an answer. */
export function transactionFrom(fields: { [field in TransactionField]?: unknown }): Transaction {
  const named = Object.entries(fields) as [TransactionField, unknown][];
  return readTransaction(
    Object.fromEntries(named.map(([field, value]) => [TRANSACTION_FIELDS[field], value])),
  );
}

/** Types with a word of the provider's own, and our words. */
const TYPES = new Map([['momo', 'mobile_money']]);

function typeOf(value: unknown): string | null {
  const word = readText(value);
  return TYPES.get(word?.toLowerCase() ?? '') ?? word;
}

/** Characters that no column can hold: NUL and lone surrogates. Rare in texts, and listings have millions. */
const UNFIT = /[\0\ud800-\udfff]/;

/** Reads text, or the digits of a number (`chiRef`, trap 4). Removes characters that no column can hold. */
export function readText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string' || value === '') return null;
  if (value.length <= 255 && !UNFIT.test(value)) return value;
  return Buffer.from(value.slice(0, 255).replaceAll('\0', '')).toString('utf8');
}

/** Digits, as JSON writes a number without an exponent. */
const AMOUNT = /^-?(0|[1-9]\d{0,14})(\.\d{1,18})?$/;

/**
 * Reads an amount, which arrives as a number or as text (trap 3). Other forms of a number, such as "0x10",
 * "1e3", " 5 " and "1,000", are not amounts.
 */
export function readAmount(value: unknown): Decimal | null {
  if (typeof value === 'string') return AMOUNT.test(value) ? new Decimal(value) : null;
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const decimal = new Decimal(value);
  return Math.abs(value) < MAX_AMOUNT && decimal.decimalPlaces() <= 18 ? decimal : null;
}

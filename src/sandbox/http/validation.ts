import Decimal from 'decimal.js';
import { Prisma } from '../generated/client';
import { Refusal } from './envelope';
import { isObject } from './rules';

/** Unchecked fields of a request. */
export type Fields = Record<string, unknown>;

export const MAX_ITEMS = 1_000; // Per batch. docs/reference/upstream.md states no limit.
const MAX_AMOUNT = 1_000_000_000; // A total of 1,000 such items still fits numeric(20,6).
const MAX_DECIMALS = 6; // As in the database, so that exactly the requested amount is debited.
const INTERNATIONAL_NUMBER = /^\+[1-9]\d{6,14}$/; // E.164.
const DECIMAL_TEXT = /^\d{1,20}(\.\d{1,20})?$/;
const NOT_FOR_JSONB = /\\u(0000|d[89a-f])/i; // JSON escapes of a null character and half a surrogate pair.

export function fieldsOf(value: unknown, name = 'request body'): Fields {
  if (!isObject(value)) throw new Refusal(`${name} must be an object`);
  return value;
}

/** Reads the batch under `name`. `read` gets each item and its name for errors, such as "airtimes[3]". */
export function readItems<Item>(
  body: unknown,
  name: string,
  read: (item: Fields, name: string) => Item,
): Item[] {
  const items = fieldsOf(body)[name];
  if (!Array.isArray(items)) throw new Refusal(`${name} must be an array`);
  if (items.length === 0) throw new Refusal(`${name} must have at least one item`);
  if (items.length > MAX_ITEMS) throw new Refusal(`${name} must have at most ${MAX_ITEMS} items`);
  return items.map((item, index) => read(fieldsOf(item, `${name}[${index}]`), `${name}[${index}]`));
}

/** Reads a required text, which may be empty only with `mayBeEmpty`. */
export function readText(value: unknown, name: string, mayBeEmpty = false): string {
  const text = readOptionalText(value, name);
  if (text === null || (text === '' && !mayBeEmpty)) throw new Refusal(`${name} is required`);
  return text;
}

export function readOptionalText(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Refusal(`${name} must be a string`);
  // Postgres can store neither of these: https://www.postgresql.org/docs/current/datatype-character.html
  if (value.includes('\0')) throw new Refusal(`${name} must not contain a null character`);
  if (/\p{Surrogate}/u.test(value)) throw new Refusal(`${name} must not contain half a character`);
  return value;
}

/** Reads an amount in US dollars: a positive JSON number. */
export function readUsd(value: unknown, name: string): Decimal {
  if (value === undefined || value === null) throw new Refusal(`${name} is required`);
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
    throw new Refusal(`${name} must be a positive number`);
  return limited(new Decimal(value), name);
}

/** Reads an amount in any currency: a positive JSON number, or its decimal text in a query. */
export function readAmount(value: unknown, name: string): Decimal {
  if (typeof value !== 'string') return readUsd(value, name);
  if (!DECIMAL_TEXT.test(value) || !new Decimal(value).isPositive() || new Decimal(value).isZero())
    throw new Refusal(`${name} must be a positive number`);
  return limited(new Decimal(value), name);
}

function limited(amount: Decimal, name: string): Decimal {
  if (amount.greaterThan(MAX_AMOUNT)) throw new Refusal(`${name} must be at most ${MAX_AMOUNT}`);
  if (amount.decimalPlaces() > MAX_DECIMALS)
    throw new Refusal(`${name} must have at most ${MAX_DECIMALS} decimals`);
  return amount;
}

/** Reads an object of the caller, which answers return unchanged. */
export function readOptionalMeta(value: unknown, name: string): Prisma.InputJsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  const meta = fieldsOf(value, name);
  if (NOT_FOR_JSONB.test(JSON.stringify(meta)))
    throw new Refusal(`${name} must not contain a null character or half a character`);
  return meta as Prisma.InputJsonObject;
}

export function readEmail(value: unknown, name: string): string {
  const email = readText(value, name);
  if (!email.includes('@')) throw new Refusal(`${name} must be an e-mail address`);
  return email;
}

export function isPhoneNumber(text: string): boolean {
  return INTERNATIONAL_NUMBER.test(text);
}

export function readPhoneNumber(value: unknown, name: string): string {
  const phoneNumber = readText(value, name);
  if (!isPhoneNumber(phoneNumber))
    throw new Refusal(`${name} must be a phone number in international format with a leading +`);
  return phoneNumber;
}

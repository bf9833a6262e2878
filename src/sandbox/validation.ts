import Decimal from 'decimal.js';
import { Refusal } from './envelope';

/** Fields that a caller sent, none of them looked at yet. */
export type Fields = Record<string, unknown>;

export const MAX_ITEMS = 1_000; // per batch; interface.md states no limit
const MAX_USD = 1_000_000_000; // with 1,000 items of it a total still fits numeric(20,6)
const MAX_DECIMALS = 6; // of a USD amount, as in the database: what is debited is what was asked, never rounded
const INTERNATIONAL_NUMBER = /^\+[1-9]\d{6,14}$/; // E.164

export function fieldsOf(value: unknown, name = 'request body'): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal(`${name} must be an object`);
  return value as Fields;
}

/** The batch under `name`, each item read by `read` with its name for error texts, for example "airtimes[3]". */
export function readItems<Item>(body: unknown, name: string, read: (item: Fields, name: string) => Item): Item[] {
  const items = fieldsOf(body)[name];
  if (!Array.isArray(items)) throw new Refusal(`${name} must be an array`);
  if (items.length === 0) throw new Refusal(`${name} must have at least one item`);
  if (items.length > MAX_ITEMS) throw new Refusal(`${name} must have at most ${MAX_ITEMS} items`);
  return items.map((item, index) => read(fieldsOf(item, `${name}[${index}]`), `${name}[${index}]`));
}

/** A text that must be there; it may be empty only where `mayBeEmpty`. */
export function readText(value: unknown, name: string, mayBeEmpty = false): string {
  const text = readOptionalText(value, name);
  if (text === null || (text === '' && !mayBeEmpty)) throw new Refusal(`${name} is required`);
  return text;
}

export function readOptionalText(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Refusal(`${name} must be a string`);
  if (value.includes('\0')) throw new Refusal(`${name} must not contain a null character`); // Postgres has no place for one
  return value;
}

/** An amount in USD: a JSON number, positive. */
export function readUsd(value: unknown, name: string): Decimal {
  if (value === undefined || value === null) throw new Refusal(`${name} is required`);
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
    throw new Refusal(`${name} must be a positive number`);
  const usd = new Decimal(value);
  if (usd.greaterThan(MAX_USD)) throw new Refusal(`${name} must be at most ${MAX_USD}`);
  if (usd.decimalPlaces() > MAX_DECIMALS) throw new Refusal(`${name} must have at most ${MAX_DECIMALS} decimals`);
  return usd;
}

export function readPhoneNumber(value: unknown, name: string): string {
  const phoneNumber = readText(value, name);
  if (!INTERNATIONAL_NUMBER.test(phoneNumber))
    throw new Refusal(`${name} must be a phone number in international format with a leading +`);
  return phoneNumber;
}

import { Decimal } from 'decimal.js';
import { isAddressBlock } from '../../../platform/config/network/address-block';
import { isWebOrigin } from '../../../platform/config/network/web-origin';
import { LimitRow } from './limit-row';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey } from './limits';

/** One permission: its name in the API, and its valid values. */
export interface GrantField {
  /** Its name in the API and in the database. */
  name: string;
  /** The column's type. */
  column: 'numeric' | 'integer' | 'text' | 'text[]' | 'boolean';
  /** Its valid values, as the predicate of a sentence that begins with its name. */
  must: string;
  /** Decides whether a value is valid. Null, which removes a limit, is left to callers. */
  test: (value: unknown) => boolean;
}

/** The maximum of one amount (src/http/validation/rules/money-rules.ts), so of every useful limit. */
export const MAX_USD = 999_999_999;
export const USD = /^(0|[1-9]\d{0,8})(\.\d{1,6})?$/;
/** Maximum length of a list, because each request searches it. */
export const MAX_WORDS = 300;
const MAX_COUNTRY_NAME = 100;

/** Entries of lists, and their tests. */
const WORDS = {
  country: { words: 'names of countries, such as Kenya', isWord: isCountryName },
  address: { words: 'IP addresses or CIDR blocks, such as 10.0.0.0/8', isWord: isAddressBlock },
  origin: { words: 'web origins as browsers send them, such as https://shop.example', isWord: isWebOrigin },
};

export const LIMIT_FIELDS = Object.fromEntries(
  LIMIT_KEYS.map((key) => [key, toField(LIMIT_ROWS[key])]),
) as Record<LimitKey, GrantField>;

function toField(row: LimitRow): GrantField {
  switch (row.kind) {
    case 'usd':
      return usd(row.name, row);
    case 'count':
      return count(row.name, row.most);
    case 'list':
      return list(row.name, WORDS[row.words]);
    case 'flag':
      return toggle(row.name);
  }
}

/** Reads an amount from a JSON number or decimal text. Undefined for other values. */
export function readUsd(value: unknown): Decimal | undefined {
  // A number's shortest decimal form equals the caller's text: a double holds nine digits and six decimals.
  const text = typeof value === 'number' && Number.isFinite(value) ? new Decimal(value).toFixed() : value;
  return typeof text === 'string' && USD.test(text) && Number(text) <= MAX_USD
    ? new Decimal(text)
    : undefined;
}

function usd(name: string, { mayBeZero }: { mayBeZero: boolean }): GrantField {
  return {
    name,
    column: 'numeric',
    must:
      `must be an amount of US dollars ${mayBeZero ? 'from' : 'greater than'} 0, ` +
      `at most ${MAX_USD}, with at most 6 decimals`,
    test: (value) => {
      const amount = readUsd(value instanceof Decimal ? value.toFixed() : value);
      return amount !== undefined && (mayBeZero || amount.greaterThan(0));
    },
  };
}

function count(name: string, most: number): GrantField {
  return {
    name,
    column: 'integer',
    must: `must be a whole number from 1 to ${most}`,
    test: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most,
  };
}

function toggle(name: string): GrantField {
  return {
    name,
    column: 'boolean',
    must: 'must be true or false',
    test: (value) => typeof value === 'boolean',
  };
}

/** An empty list means no limit. */
function list(
  name: string,
  { words, isWord }: { words: string; isWord: (word: string) => boolean },
): GrantField {
  return {
    name,
    column: 'text[]',
    must: `must be a list of at most ${MAX_WORDS} ${words}`,
    test: (value) =>
      Array.isArray(value) &&
      value.length <= MAX_WORDS &&
      value.every((word) => typeof word === 'string' && isWord(word)),
  };
}

function isCountryName(word: string): boolean {
  return word.trim() !== '' && word.length <= MAX_COUNTRY_NAME && !/[\p{Cc}\p{Surrogate}]/u.test(word);
}

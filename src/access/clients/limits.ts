import { Decimal } from 'decimal.js';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey } from './limit-keys';
import { LIMIT_TABLE } from './limit-table';

type Table = typeof LIMIT_TABLE;

/** The type of each kind of limit. */
interface Values {
  usd: Decimal | null;
  count: number | null;
  list: string[];
  flag: boolean;
}

/** The limits of a client. Null or an empty list means no limit. */
export type Limits = { [key in keyof Table]: Values[Table[key]['kind']] };

/** An amount in US dollars as Prisma returns it, with a Decimal of its own, or as pg does. */
export type Usd = { toFixed(): string } | string | null;

/** Some limits in a row of a table, as Prisma or a query of our own returns it. */
export type LimitsRow<Key extends LimitKey = LimitKey> = {
  [key in Key]: Table[key]['kind'] extends 'usd' ? Usd : Limits[key];
};

/** Limits by their names in the API, as JSON. */
export type LimitsDocument<Key extends LimitKey = LimitKey> = {
  [key in Key as Table[key]['name']]: Table[key]['kind'] extends 'usd' ? string | null : Limits[key];
};

const NOTHING: Values = { usd: null, count: null, list: [], flag: false };

export const NO_LIMITS = Object.fromEntries(LIMIT_KEYS.map((key) => [key, NOTHING[LIMIT_ROWS[key].kind]])) as Limits;

const MONEY_KEYS = LIMIT_KEYS.filter((key) => LIMIT_ROWS[key].kind === 'usd');

export function limitsOf(row: LimitsRow): Limits {
  return readLimits(row, LIMIT_KEYS);
}

/** Reads some limits from a row. */
export function readLimits<Key extends LimitKey>(row: LimitsRow<Key>, keys: readonly Key[]): Pick<Limits, Key> {
  const limits = {} as Record<Key, unknown>;
  for (const key of keys) limits[key] = LIMIT_ROWS[key].kind === 'usd' ? toDecimal(row[key] as Usd) : row[key];
  return limits as Pick<Limits, Key>;
}

/** Returns the columns of some limits for a statement, by the names of {@link Limits}. */
export function limitColumns(keys: readonly LimitKey[], table: string): string {
  return keys.map((key) => `${table}.${LIMIT_ROWS[key].name} AS "${key}"`).join(', ');
}

/** Returns some limits as JSON. */
export function toLimitsDocument<Key extends LimitKey>(
  limits: Pick<Limits, Key>,
  keys: readonly Key[],
): LimitsDocument<Key> {
  const named = keys.map((key) => [LIMIT_ROWS[key].name, toJson(limits[key])]);
  return Object.fromEntries(named) as LimitsDocument<Key>;
}

/** Returns a value as JSON has it. An amount is text, so that it stays exact. */
export function toJson(value: unknown): unknown {
  return value instanceof Decimal ? value.toFixed() : value;
}

/** Returns whether a client has a limit in US dollars. Such a client must state the amount of every item. */
export function limitsMoney(limits: Limits): boolean {
  return MONEY_KEYS.some((key) => limits[key] !== null);
}

export function toDecimal(usd: Usd): Decimal | null {
  return usd === null ? null : new Decimal(typeof usd === 'string' ? usd : usd.toFixed());
}

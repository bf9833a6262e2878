import { Decimal } from 'decimal.js';
import { LimitRow } from './limit-row';
import { LIMIT_TABLE } from './limit-table';

type Table = typeof LIMIT_TABLE;

/** A limit's name in the code. */
export type LimitKey = keyof Table;

/** The limits that have a property. */
type KeysWith<Property extends object> = {
  [key in LimitKey]: Table[key] extends Property ? key : never;
}[LimitKey];

/** The limits that each person of a client has. */
export type PersonLimitKey = KeysWith<{ replacedBy: string }>;
/** Overrides for one person. */
export type OwnLimitKey = Table[PersonLimitKey]['replacedBy'];
/** The limits that depend on other calls. */
export type AdmissionLimitKey = KeysWith<{ atAdmission: true }>;
/** The limits that apps read with GET /v1/limits. */
export type ShownLimitKey = Exclude<LimitKey, KeysWith<{ shown: false }> | PersonLimitKey>;

export const LIMIT_ROWS: Record<LimitKey, LimitRow> = LIMIT_TABLE;
export const LIMIT_KEYS = Object.keys(LIMIT_TABLE) as LimitKey[];
export const ADMISSION_LIMIT_KEYS = LIMIT_KEYS.filter(
  (key) => LIMIT_ROWS[key].atAdmission,
) as AdmissionLimitKey[];
export const PERSON_LIMIT_KEYS = LIMIT_KEYS.filter((key) => LIMIT_ROWS[key].replacedBy) as PersonLimitKey[];
export const SHOWN_LIMIT_KEYS = LIMIT_KEYS.filter(
  (key) => LIMIT_ROWS[key].shown !== false && !LIMIT_ROWS[key].replacedBy,
) as ShownLimitKey[];

/** Overrides for one person, with the limit that each replaces. */
export const OWN_LIMITS = PERSON_LIMIT_KEYS.map((key) => [LIMIT_TABLE[key].replacedBy, key] as const);

/** Returns the unit of a limit: the suffix of its name. */
export function unitOf(key: LimitKey): string | undefined {
  return /_(usd|days|seconds)$/.exec(LIMIT_ROWS[key].name)?.[1];
}

/** Returns the option that sets a limit, such as `--daily-cap`. */
export function optionOf(key: LimitKey): string {
  const { name, option } = LIMIT_ROWS[key];
  const unit = unitOf(key);
  return option ?? `--${(unit ? name.slice(0, -unit.length - 1) : name).replaceAll('_', '-')}`;
}

/** Returns the description of a limit, as a sentence. */
export function textOf(key: LimitKey): string {
  const row = LIMIT_ROWS[key];
  if (row.kind === 'flag') return `Whether ${inSentence(row.text)}`;
  return row.kind === 'list' ? `${row.text} Empty: ${row.empty}.` : row.text;
}

/** Returns text for the middle of a sentence. */
export function inSentence(text: string): string {
  return text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The type of each kind of limit. */
interface Values {
  usd: Decimal | null;
  count: number | null;
  list: string[];
  flag: boolean;
}

/** The limits of a client. Null or an empty list means no limit. */
export type Limits = { [key in keyof Table]: Values[Table[key]['kind']] };

/** An amount in US dollars, as returned by Prisma (its own Decimal) or by pg (text). */
export type Usd = { toFixed(): string } | string | null;

/** Some limits of a row, as returned by Prisma or by raw SQL. */
export type LimitsRow<Key extends LimitKey = LimitKey> = {
  [key in Key]: Table[key]['kind'] extends 'usd' ? Usd : Limits[key];
};

/** Limits by their names in the API, as JSON. */
export type LimitsDocument<Key extends LimitKey = LimitKey> = {
  [key in Key as Table[key]['name']]: Table[key]['kind'] extends 'usd' ? string | null : Limits[key];
};

const NOTHING: Values = { usd: null, count: null, list: [], flag: false };

export const NO_LIMITS = Object.fromEntries(
  LIMIT_KEYS.map((key) => [key, NOTHING[LIMIT_ROWS[key].kind]]),
) as Limits;

const MONEY_KEYS = LIMIT_KEYS.filter((key) => LIMIT_ROWS[key].kind === 'usd');

export function limitsOf(row: LimitsRow): Limits {
  return readLimits(row, LIMIT_KEYS);
}

/** Reads some limits from a row. */
export function readLimits<Key extends LimitKey>(
  row: LimitsRow<Key>,
  keys: readonly Key[],
): Pick<Limits, Key> {
  const limits = {} as Record<Key, unknown>;
  for (const key of keys)
    limits[key] = LIMIT_ROWS[key].kind === 'usd' ? toDecimal(row[key] as Usd) : row[key];
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

/** Returns a value as JSON. An amount becomes text, to stay exact. */
export function toJson(value: unknown): unknown {
  return value instanceof Decimal ? value.toFixed() : value;
}

/** Returns whether a client has a limit in US dollars. If so, it must state the amount of every item. */
export function limitsMoney(limits: Limits): boolean {
  return MONEY_KEYS.some((key) => limits[key] !== null);
}

export function toDecimal(usd: Usd): Decimal | null {
  return usd === null ? null : new Decimal(typeof usd === 'string' ? usd : usd.toFixed());
}

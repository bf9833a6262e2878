import { LimitRow } from './limit-row';
import { LIMIT_TABLE } from './limit-table';

type Table = typeof LIMIT_TABLE;

/** The name of a limit in the code. */
export type LimitKey = keyof Table;

/** The limits that have a property. */
type KeysWith<Property extends object> = { [key in LimitKey]: Table[key] extends Property ? key : never }[LimitKey];

/** The limits that each person of a client has. */
export type PersonLimitKey = KeysWith<{ replacedBy: string }>;
/** The limits that one person may have instead. */
export type OwnLimitKey = Table[PersonLimitKey]['replacedBy'];
/** The limits that depend on other calls. */
export type AdmissionLimitKey = KeysWith<{ atAdmission: true }>;
/** The limits that apps read with GET /v1/limits. */
export type ShownLimitKey = Exclude<LimitKey, KeysWith<{ shown: false }> | PersonLimitKey>;

export const LIMIT_ROWS: Record<LimitKey, LimitRow> = LIMIT_TABLE;
export const LIMIT_KEYS = Object.keys(LIMIT_TABLE) as LimitKey[];
export const ADMISSION_LIMIT_KEYS = LIMIT_KEYS.filter((key) => LIMIT_ROWS[key].atAdmission) as AdmissionLimitKey[];
export const PERSON_LIMIT_KEYS = LIMIT_KEYS.filter((key) => LIMIT_ROWS[key].replacedBy) as PersonLimitKey[];
export const SHOWN_LIMIT_KEYS = LIMIT_KEYS.filter(
  (key) => LIMIT_ROWS[key].shown !== false && !LIMIT_ROWS[key].replacedBy,
) as ShownLimitKey[];

/** The limits of one person, and the limit of each person that they replace. */
export const OWN_LIMITS = PERSON_LIMIT_KEYS.map((key) => [LIMIT_TABLE[key].replacedBy, key] as const);

/** Returns the unit of a limit, which is the end of its name. */
export function unitOf(key: LimitKey): string | undefined {
  return /_(usd|days|seconds)$/.exec(LIMIT_ROWS[key].name)?.[1];
}

/** Returns the option that sets a limit, such as `--daily-cap`. */
export function optionOf(key: LimitKey): string {
  const { name, option } = LIMIT_ROWS[key];
  const unit = unitOf(key);
  return option ?? `--${(unit ? name.slice(0, -unit.length - 1) : name).replaceAll('_', '-')}`;
}

/** Returns what a limit is, as a sentence of a document. */
export function textOf(key: LimitKey): string {
  const row = LIMIT_ROWS[key];
  if (row.kind === 'flag') return `Whether ${inSentence(row.text)}`;
  return row.kind === 'list' ? `${row.text} Empty: ${row.empty}.` : row.text;
}

/** Returns text as the end of a sentence. */
export function inSentence(text: string): string {
  return text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

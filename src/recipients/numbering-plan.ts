import { Metadata } from 'libphonenumber-js/core';
// Already loaded by class-validator.
import { getCountries, getCountryCallingCode, MetadataJson, NumberingPlan } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';
import { WITH_LEADING_ZERO } from '../platform/privacy/calling-codes';

/**
 * Calling codes by their first digits (ITU-T E.164, assigned country codes). No code is a prefix of another,
 * so Postgres, which prefers the longest match, finds the same.
 */
const CALLING_CODE =
  /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[03578]|9[679])\d)/;

type NationalForm = readonly [replaced: RegExp, by: string];

const AS_DIALED: NationalForm = [/^(?!)/, ''];

/**
 * The form of a national number after its calling code: a pattern and its replacement. Other countries omit
 * leading zeros. The SQL function phone_key() has the same table.
 */
const NATIONAL_FORMS: ReadonlyMap<string, NationalForm> = new Map<string, NationalForm>([
  ['1', [/^1(?=\d{10}$)/, '']],
  ['7', [/^8(?=\d{10}$)/, '']],
  ['36', [/^06(?=\d{8,9}$)/, '']],
  ['370', [/^[08](?=\d{8}$)/, '']],
  ['375', [/^80?(?=\d{9}$)/, '']],
  ['993', [/^8(?=\d{8}$)/, '']],
  // Until August 2019, Mexico's mobile numbers had a 1 when dialed from abroad.
  ['52', [/^0?1?(?=\d{10}$)/, '']],
  ...[...WITH_LEADING_ZERO].map((code): [string, NationalForm] => [code, AS_DIALED]),
  // On 30 November 2024, Benin added 01 to each number, which had eight digits.
  ['229', [/^(?=\d{8}$)/, '01']],
]);

/**
 * Returns the digits of a number in international form, by its numbering plan.
 * @param digits with a calling code.
 */
export function asPlanned(digits: string): string {
  const code = callingCodeOf(digits);
  const form = NATIONAL_FORMS.get(code);
  if (!form && digits[code.length] !== '0') return digits; // almost all numbers
  const [replaced, by] = form ?? [/^0+/, ''];
  return code + digits.slice(code.length).replace(replaced, by);
}

/** Required line type of a number. Airtime and mobile money need mobile numbers. */
export type Line = 'mobile' | 'any';

/** Possible counts of digits after a calling code. */
type Lengths = Record<Line, Set<number>>;

let lengthsByCode: ReadonlyMap<string, Lengths> | undefined;

/** Returns the possible counts of digits after a calling code. Undefined for an unassigned one. */
export function lengthsAfter(code: string): Lengths | undefined {
  lengthsByCode ??= readLengths();
  return lengthsByCode.get(code);
}

/** Returns the calling codes of all countries. */
export function callingCodes(): string[] {
  lengthsByCode ??= readLengths();
  return [...lengthsByCode.keys()];
}

/** By the first three digits of the numbers so far. */
const knownCodes = new Map<string, string>();

/** Returns the calling code of a number. Empty without one. @param digits no other characters. */
export function callingCodeOf(digits: string): string {
  const start = digits.slice(0, 3);
  let code = knownCodes.get(start);
  if (code === undefined) {
    code = CALLING_CODE.exec(start)?.[0] ?? '';
    knownCodes.set(start, code);
  }
  return code;
}

/** The library's types omit this method. */
type TypedPlan = NumberingPlan & { type(line: 'MOBILE'): { possibleLengths(): number[] } | undefined };

function readLengths(): Map<string, Lengths> {
  const found = new Map<string, Lengths>();
  const reader = new Metadata(metadata as unknown as MetadataJson);
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    const lengths = found.get(code) ?? { mobile: new Set(), any: new Set() };
    found.set(code, lengths);
    reader.selectNumberingPlan(country);
    const plan = reader.numberingPlan as TypedPlan;
    for (const length of plan.possibleLengths()) lengths.any.add(length);
    for (const length of (plan.type('MOBILE') ?? plan).possibleLengths()) lengths.mobile.add(length);
  }
  return found;
}

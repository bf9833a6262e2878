import { isInternational } from './calling-codes';

/** Generated IDs, with digits that mean nothing. */
const UUID = /(?<![\da-z])[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}(?![\da-z])/gi;
const HEX = /(?<![\da-z])(?=[\da-f]*[a-f])[\da-f]{16,}(?![\da-z])/gi;
const ULID = /(?<![\da-z])(?=\d*[a-z])[0-7][\da-hjkmnp-tv-z]{25}(?![\da-z])/gi;
const IP_ADDRESS = /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.])/g;

/** Characters that people put between the digits of a number. */
const BETWEEN = /[ ._()/-]/;

/**
 * Groups of digits that may form one number. Digits within letters are part of an ID. Digits after a word, as
 * in `user254712345678`, may be a number. Letters that could all be hexadecimal do not count as a word.
 */
const GROUPS = new RegExp(
  `(?<![A-Za-z0-9])(?:[A-Za-z]*[G-Zg-z][A-Za-z]*)?(\\d+(?:${BETWEEN.source}{1,3}\\d+)*)(?![A-Za-z0-9])`,
  'g',
);

/** A recent year and month (`20261122`, `2026-11-0042`), which is a date and not a number in Egypt. */
const BEGINS_WITH_DATE = /^20[23]\d(?:0[1-9]|1[0-2])/;

const HOME = /^0[1-9]\d{7,9}$/;

const MOST_DIGITS = 17;

/**
 * Returns whether text seems to contain a phone number without its +: in international form (`254712345678`),
 * after 00, or as dialed at home (`0712345678`), also in groups. Ignores UUIDs, ULIDs, hashes and dates.
 */
export function looksLikePhone(text: string): boolean {
  if (!/\d{2}/.test(text)) return false;
  const told = [UUID, HEX, ULID, IP_ADDRESS].reduce((rest, id) => rest.replace(id, '#'), text);
  return [...told.matchAll(GROUPS)].some(([, groups = '']) => hasNumber(groups.split(/\D+/)));
}

/** Tests each group alone, and adjacent groups together. */
function hasNumber(groups: string[]): boolean {
  return groups.some((_, first) => {
    let digits = '';
    for (const group of groups.slice(first)) {
      digits += group;
      if (digits.length > MOST_DIGITS) return false;
      if (isNumber(digits)) return true;
    }
    return false;
  });
}

function isNumber(digits: string): boolean {
  if (digits.startsWith('00')) return isInternational(digits.slice(2));
  if (digits.startsWith('0')) return HOME.test(digits);
  return !BEGINS_WITH_DATE.test(digits) && isInternational(digits);
}

/**
 * Returns whether text contains one of these numbers in any spelling: with or without its calling code, in
 * groups or not.
 * @param phones in international form.
 */
export function spellsOneOf(text: string, phones: readonly string[]): boolean {
  if (phones.length === 0 || !/\d{2}/.test(text)) return false;
  const told = [UUID, HEX, ULID].reduce((rest, id) => rest.replace(id, '#'), text);
  const runs = (told.match(/\d[\d ._()/-]*/g) ?? [])
    .map((run) => run.replace(/\D/g, ''))
    .filter((run) => run.length >= 7);
  if (runs.length === 0) return false;
  return phones.some((phone) => runs.some((run) => run.includes(endOf(phone))));
}

/** Returns the digits of every spelling. A calling code has at most three digits, a number at least seven. */
function endOf(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.slice(-Math.max(7, digits.length - 3));
}

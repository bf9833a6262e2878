import { isInternational } from './calling-codes';

/** Ids that machines make. Their digits say nothing, whatever they look like. */
const UUID = /(?<![\da-z])[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}(?![\da-z])/gi;
const HEX = /(?<![\da-z])(?=[\da-f]*[a-f])[\da-f]{16,}(?![\da-z])/gi;
const ULID = /(?<![\da-z])(?=\d*[a-z])[0-7][\da-hjkmnp-tv-z]{25}(?![\da-z])/gi;
const IP_ADDRESS = /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.])/g;

/** What people write between the digits of a number. */
const BETWEEN = /[ ._()/-]/;

/**
 * Groups of digits that may be one number together. Digits within letters are part of an id; behind a word, as in
 * `user254712345678`, they may be a number. Letters that could all be hexadecimal are no word.
 */
const GROUPS = new RegExp(
  `(?<![A-Za-z0-9])(?:[A-Za-z]*[G-Zg-z][A-Za-z]*)?(\\d+(?:${BETWEEN.source}{1,3}\\d+)*)(?![A-Za-z0-9])`,
  'g',
);

/** `20261122`, `2026-11-0042`: what begins with a year and a month of ours is a date, not a number in Egypt. */
const BEGINS_WITH_DATE = /^20[23]\d(?:0[1-9]|1[0-2])/;

const HOME = /^0[1-9]\d{7,9}$/;

const MOST_DIGITS = 17;

/**
 * Whether text has in it what looks like a phone number without its +: in international form (`254712345678`), behind 00, or as
 * it is dialled at home (`0712345678`), also in groups. UUIDs, ULIDs, hashes, dates and timestamps are none.
 */
export function looksLikePhone(text: string): boolean {
  if (!/\d{2}/.test(text)) return false;
  const told = [UUID, HEX, ULID, IP_ADDRESS].reduce((rest, id) => rest.replace(id, '#'), text);
  return [...told.matchAll(GROUPS)].some(([, groups = '']) => hasNumber(groups.split(/\D+/)));
}

/** Any of the groups alone, or some that follow each other. */
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
 * Whether text has one of these numbers in it, in whatever spelling: with its calling code or without, in groups or not.
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

/** The digits that every spelling has: a calling code has three at most, and no number has fewer than seven. */
function endOf(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.slice(-Math.max(7, digits.length - 3));
}

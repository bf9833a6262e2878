import { isObject } from '../../../platform/json/is-object';

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

const RFC_2822 =
  /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d(?::\d\d)?) (UTC|GMT|UT|Z|[+-]\d{4})$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The years 1 to 9999. No column holds other years in their written form. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** The years 2000 to 2099, in seconds since 1970. Other numbers are neither seconds nor milliseconds. */
const FIRST_SECOND = 946_684_800;
const END_SECOND = 4_102_444_800;

/**
 * Reads a time: ISO 8601, in UTC without a zone; RFC 2822; a number of milliseconds or seconds since 1970; or
 * the object of Firestore. The ranges of both units do not overlap for the years 2000 to 2099.
 */
export function readTime(value: unknown): Date | null {
  if (typeof value === 'number') {
    const ms = Math.round(value < END_SECOND ? value * 1_000 : value);
    return ms >= FIRST_SECOND * 1_000 && ms < END_SECOND * 1_000 ? new Date(ms) : null;
  }
  if (typeof value === 'string') return readText(value);
  return isObject(value) ? readFirestoreTime(value) : null;
}

/** The last text. All transactions of a call have one. */
let last: { text: string; time: Date | null } = { text: '', time: null };

function readText(text: string): Date | null {
  if (last.text !== text) last = { text, time: readIsoTime(text) ?? readIsoTime(isoOf(text) ?? '') };
  return last.time;
}

/** Returns a time of RFC 2822, such as `Mon, 30 Nov 2026 00:35:12 +0000`, in the form of ISO 8601. */
function isoOf(text: string): string | undefined {
  const [, day = '', month = '', year, clock, zone = ''] = RFC_2822.exec(text) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  if (number === 0) return undefined;
  const date = [year, String(number).padStart(2, '0'), day.padStart(2, '0')].join('-');
  return `${date}T${clock}${zone.startsWith('+') || zone.startsWith('-') ? zone : 'Z'}`;
}

function readFirestoreTime(value: Record<string, unknown>): Date | null {
  const { _seconds: seconds, _nanoseconds: nanoseconds } = value;
  if (typeof seconds !== 'number') return null;
  return readTime(seconds + (typeof nanoseconds === 'number' ? Math.floor(nanoseconds / 1e6) / 1e3 : 0));
}

function readIsoTime(text: string): Date | null {
  const [written, day, zone] = ISO_TIME.exec(text) ?? [];
  if (written === undefined || day === undefined || !isDay(day)) return null;
  const read = new Date(zone !== undefined || written === day ? written : `${written}Z`);
  return read.getTime() >= FIRST_MS && read.getTime() <= LAST_MS ? read : null;
}

/** JavaScript reads 30 February as 2 March. */
function isDay(day: string): boolean {
  return new Date(day).getUTCDate() === Number(day.slice(-2));
}

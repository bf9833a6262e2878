import { numberForms } from '../../platform/privacy/contacts';
import { phonesMeantBy } from '../../platform/privacy/phone-spellings';
import { suggestPhone } from '../../http/validation/people-rules';

/** Somebody who is to be found wherever they stand. */
export interface Person {
  kind: 'email' | 'phone' | 'handle';
  /** As people are kept: a phone in international form, a handle with its @. */
  value: string;
}

/** Whom a recipient means; undefined if it is no e-mail address, no international phone number and no handle. */
export function personOf(recipient: string): Person | undefined {
  const value = recipient.trim();
  const phone = suggestPhone(value);
  if (phone !== undefined) return { kind: 'phone', value: phone };
  if (/^@[\w.-]+$/.test(value)) return { kind: 'handle', value };
  return /^[^\s@]+@[^\s@]+$/.test(value) ? { kind: 'email', value } : undefined;
}

/** Whether a text names the person, in any of the forms in which programs write: escaped, in other cases, with blanks. */
export function namedIn({ kind, value }: Person): (text: string) => boolean {
  const pattern = PATTERNS[kind](value.normalize('NFC'));
  return (text) => writings(text).some((writing) => pattern.test(writing.normalize('NFC')));
}

/** As much of somebody that it is hardly anybody else. */
const MIN_BEGINNING = 7;

/** Whether a recorded search (its filters, as JSON) was for the person, or for how they begin. */
export function askedFor(person: Person): (filters: string) => boolean {
  const named = namedIn(person);
  const whole = person.value.toLowerCase();
  const isBeginning = (text: unknown) =>
    typeof text === 'string' && text.length >= MIN_BEGINNING && whole.startsWith(text.toLowerCase());
  const isSpelling = (text: unknown) =>
    person.kind === 'phone' && typeof text === 'string' && phonesMeantBy(text).includes(person.value);
  return (filters) => {
    const meant = filters.replaceAll(' ', '+'); // an unescaped + of a query arrives as a blank, and finds all the same
    if (named(filters) || named(meant) || valuesOf(meant).some(isBeginning)) return true;
    return valuesOf(filters).some(isSpelling);
  };
}

const valuesOf = (filters: string): unknown[] => Object.values(JSON.parse(filters) as object);

/** Shorter names without their @ are words, and other people's first names. */
const MIN_BARE_HANDLE = 5;

/** Their parts: what stands before and after must not make it somebody else's. */
const PATTERNS: Record<Person['kind'], (value: string) => RegExp> = {
  email: (value) => new RegExp(`(?<![\\p{L}\\p{N}._%+-])${literal(value)}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, 'iu'),
  handle: (value) => {
    const bare = literal(value.slice(1));
    const forms = [`(?<![\\p{L}\\p{N}_.])@${bare}`, `(?<=(?:twitter|x)\\.com/)${bare}`];
    if (value.length > MIN_BARE_HANDLE) forms.push(`(?<=")${bare}(?=")`); // the upstream may keep it without
    return new RegExp(`(?:${forms.join('|')})(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}_])`, 'iu');
  },
  phone: (value) => {
    const forms = numberForms(value).map((form) => [...form].join('[\\s().\\-\\u00a0]{0,3}'));
    return new RegExp(`(?<!\\d)(?:${forms.join('|')})(?!\\d)`, 'u');
  },
};

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, (character) => `\\${character}`);
}

/** JSON in a JSON string, with an address in it: deeper was never seen, and each time costs. */
const MAX_WRITINGS = 4;

/** A text, and what is meant by it: without JSON's escapes, a URL's and HTML's. */
function writings(text: string): string[] {
  const all = [text];
  while (all.length < MAX_WRITINGS) {
    const last = all.at(-1) as string;
    const read = unescaped(last);
    if (read === last) break;
    all.push(read);
  }
  return all;
}

function unescaped(text: string): string {
  let read = text;
  if (read.includes('\\'))
    read = read.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_all, hex?: string, one?: string) => character(hex, one));
  if (read.includes('%')) read = read.replace(/(?:%[0-9a-f]{2})+/gi, fromPercents);
  if (read.includes('&#')) {
    read = read.replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (all, hex?: string, decimal?: string) =>
      fromCode(hex === undefined ? Number(decimal) : parseInt(hex, 16), all),
    );
  }
  return read;
}

function character(hex: string | undefined, one = ''): string {
  if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
  return 'nrtbf'.includes(one) ? ' ' : one;
}

function fromPercents(escapes: string): string {
  return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8');
}

function fromCode(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

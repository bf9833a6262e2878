import { domainToUnicode } from 'node:url';
import { numberForms } from '../../platform/privacy/contacts';
import { spellsOneOf } from '../../platform/privacy/phone-numbers';
import { phonesMeantBy } from '../../recipients/phone-candidates';
import { Contact } from '../../recipients/recipient';

/** Returns a test whether a text names the person in any common form: escaped, in other case, spaced. */
export function namedIn({ kind, key }: Contact): (text: string) => boolean {
  const pattern = PATTERNS[kind](key);
  return (text) => writings(text).some((writing) => pattern.test(writing.normalize('NFC')));
}

/** Returns a test whether an identifier contains the contact in any spelling: `order-254712345678`. */
export function spelledIn(person: Contact): (identifier: string) => boolean {
  const named = namedIn(person);
  return (identifier) =>
    named(identifier) || (person.kind === 'phone' && spellsOneOf(identifier, [person.key]));
}

/** Minimum length of a prefix that identifies a person with near certainty. */
const MIN_BEGINNING = 7;

/** Returns a test whether the filters of a search (as JSON) have the person, or a prefix of the contact. */
export function searchedIn(person: Contact): (filters: string) => boolean {
  const named = namedIn(person);
  const isBeginning = (text: unknown) =>
    typeof text === 'string' && text.length >= MIN_BEGINNING && person.key.startsWith(text.toLowerCase());
  const isSpelling = (text: unknown) =>
    person.kind === 'phone' &&
    typeof text === 'string' &&
    (phonesMeantBy(text).includes(person.key) || spellsOneOf(text, [person.key]));
  return (filters) => {
    // An unescaped + of a query arrives as a space, and the search still finds the contact.
    const meant = filters.replaceAll(' ', '+');
    if (named(filters) || named(meant) || valuesOf(meant).some(isBeginning)) return true;
    return valuesOf(filters).some(isSpelling);
  };
}

const valuesOf = (filters: string): unknown[] => Object.values(JSON.parse(filters) as object);

/** Minimum length of handles without @. Shorter ones are also words and first names. */
const MIN_BARE_HANDLE = 5;

/** Patterns by kind. The characters around a match must not make it another person. */
const PATTERNS: Record<Contact['kind'], (key: string) => RegExp> = {
  email: (key) => {
    const [local = '', domain = ''] = key.split('@');
    const forms = [domain, domainToUnicode(domain)].map((form) => literal(`${local}@${form}`));
    return new RegExp(
      `(?<![\\p{L}\\p{N}._%+-])(?:${forms.join('|')})(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`,
      'iu',
    );
  },
  handle: (key) => {
    const bare = literal(key.slice(1));
    const forms = [`(?<![\\p{L}\\p{N}_.])@${bare}`, `(?<=(?:twitter|x)\\.com/)${bare}`];
    if (key.length > MIN_BARE_HANDLE) forms.push(`(?<=")${bare}(?=")`); // The upstream may omit the @.
    return new RegExp(`(?:${forms.join('|')})(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}_])`, 'iu');
  },
  phone: (key) => {
    const forms = numberForms(key).map((form) => [...form].join('[\\s().\\-\\u00a0]{0,3}'));
    return new RegExp(`(?<!\\d)(?:${forms.join('|')})(?!\\d)`, 'u');
  },
};

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, (character) => `\\${character}`);
}

/** Maximum nesting of encodings, such as JSON with a URL in a JSON string. Each level costs time. */
const MAX_WRITINGS = 4;

/** Returns a text and its decodings: without JSON, URL and HTML escapes. */
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
    read = read.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_all, hex?: string, one?: string) =>
      character(hex, one),
    );
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

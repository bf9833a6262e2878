import { maskContacts, maskPhone, maskProse, namesContact, numberForms } from './contacts';

/** A whole number of a phone's length, a leading 00 included. */
const DIGITS = /(?<!\d)\d{7,17}(?!\d)/g;

/**
 * Text as records keep it for ever: what looks like a contact is masked. As it was, it stands where it can be erased: in the
 * body that it came in.
 * @param numbers of the people whom the text is about, in the forms of `writtenNumbers`: also without their + they are masked.
 */
export function asRecorded<Text extends string | null>(text: Text, numbers: ReadonlySet<string> = NOBODY): Text {
  if (text === null) return text;
  const masked = maskContacts(text);
  if (numbers.size === 0) return masked as Text;
  return masked.replace(DIGITS, (digits) => (numbers.has(digits) ? maskDigits(digits) : digits)) as Text;
}

const NOBODY: ReadonlySet<string> = new Set<string>();

/** How phone numbers are written without their +. @param phones in international form. */
export function writtenNumbers(phones: string[]): ReadonlySet<string> {
  return new Set(phones.flatMap(numberForms));
}

/** Sentences that somebody wrote (a reason, the upstream's word): a number of a phone's length is taken for one. */
export function proseAsRecorded<Text extends string | null>(text: Text): Text {
  return (text === null ? null : maskProse(text)) as Text;
}

/** Texts with more numbers than this were hardly ever recorded, and each doubles the forms. */
const MAX_NUMBERS = 4;

/** The forms in which a text that is searched for may stand in the records: whose number each is, is not known. */
export function recordedForms(text: string): string[] {
  const masked = asRecorded(text);
  const numbers = [...new Set(masked.match(DIGITS))];
  let choices: ReadonlySet<string>[] = [new Set(), new Set(numbers)];
  if (numbers.length <= MAX_NUMBERS) {
    choices = numbers.reduce((sets, number) => [...sets, ...sets.map((set) => new Set([...set, number]))], [NOBODY]);
  }
  return [...new Set(choices.map((choice) => asRecorded(text, choice)))];
}

/** A query string as records keep it; one that names nobody stays as it was sent. */
export function queryAsRecorded(query: string | null): string | null {
  const pairs = [...new URLSearchParams(query ?? '')];
  if (!pairs.flat().some(namesContact)) return query;
  const masked = pairs.map(([name, value]): [string, string] => [asRecorded(name), asRecorded(value)]);
  return new URLSearchParams(masked).toString();
}

function maskDigits(digits: string): string {
  return maskPhone(`+${digits}`).slice(1);
}

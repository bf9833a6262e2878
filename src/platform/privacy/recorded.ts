import { maskContacts, maskPhone, maskProse, namesContact, numberForms } from './contacts';

/** A whole number with the length of a phone number, including a leading 00. */
const DIGITS = /(?<!\d)\d{7,17}(?!\d)/g;

/**
 * Returns text in the form of permanent records, with masked contacts. The original is in the body, where it
 * can be erased.
 * @param numbers of the people in the text, from `writtenNumbers`. They are masked even without their +.
 */
export function asRecorded<Text extends string | null>(
  text: Text,
  numbers: ReadonlySet<string> = NO_NUMBERS,
): Text {
  if (text === null) return text;
  const masked = maskContacts(text);
  if (numbers.size === 0) return masked as Text;
  return masked.replace(DIGITS, (digits) => (numbers.has(digits) ? maskDigits(digits) : digits)) as Text;
}

const NO_NUMBERS: ReadonlySet<string> = new Set<string>();

/** Returns phone numbers as people write them without +. @param phones in international form. */
export function writtenNumbers(phones: string[]): ReadonlySet<string> {
  return new Set(phones.flatMap(numberForms));
}

/** Masks sentences of others (a reason, the upstream's message), and numbers as long as a phone number. */
export function proseAsRecorded<Text extends string | null>(text: Text): Text {
  return (text === null ? null : maskProse(text)) as Text;
}

/** Texts with more numbers were hardly ever recorded, and each number doubles the forms. */
const MAX_NUMBERS = 4;

/** Returns the forms in which a searched text may have been recorded. */
export function recordedForms(text: string): string[] {
  const masked = asRecorded(text);
  const numbers = [...new Set(masked.match(DIGITS))];
  let choices: ReadonlySet<string>[] = [new Set(), new Set(numbers)];
  if (numbers.length <= MAX_NUMBERS) {
    choices = numbers.reduce(
      (sets, number) => [...sets, ...sets.map((set) => new Set([...set, number]))],
      [NO_NUMBERS],
    );
  }
  return [...new Set(choices.map((choice) => asRecorded(text, choice)))];
}

/**
 * Returns a query string in recorded form. Keeps a query without a contact unchanged. The SQL function
 * audit.mask_query() reads it.
 */
export function queryAsRecorded(query: string | null): string | null {
  const pairs = query === null ? [] : [...new URLSearchParams(query)];
  if (!pairs.flat().some(namesContact)) return query;
  const masked = pairs.map(([name, value]): [string, string] => [asRecorded(name), asRecorded(value)]);
  return new URLSearchParams(masked).toString();
}

function maskDigits(digits: string): string {
  return maskPhone(`+${digits}`).slice(1);
}

import { CODE_OF_BENIN, maskContacts, maskPhone, maskProse, namesContact, numberForms } from './contacts';

/** Few texts have so many digits. */
const SEVEN_DIGITS = /\d{7}/;

/** A whole number with the length of a phone number, including a leading 00. */
const DIGITS = /(?<!\d)\d{7,17}(?!\d)/g;

/**
 * Returns text in the form of permanent records, with masked contacts. The original is in the body, where it
 * can be erased.
 * @param numbers of the people in the text, from `writtenNumbers`. They are masked even without their +.
 */
export function asRecorded<Text extends string | null>(text: Text, numbers?: WrittenNumbers): Text {
  if (text === null) return text;
  const masked = maskContacts(text);
  if (!numbers || !SEVEN_DIGITS.test(masked)) return masked as Text;
  return masked.replace(DIGITS, (digits) => (numbers.has(digits) ? maskDigits(digits) : digits)) as Text;
}

/** Phone numbers as people write them without +. */
export type WrittenNumbers = Pick<ReadonlySet<string>, 'has'>;

/** Returns phone numbers as people write them without +. @param phones in international form. */
export function writtenNumbers(phones: string[]): WrittenNumbers {
  const haveFormerForms = phones.some((phone) => phone.startsWith(CODE_OF_BENIN));
  let [international, others]: ReadonlySet<string>[] = []; // few texts need them
  const isInternational = (digits: string) =>
    (international ??= new Set(phones.map((phone) => phone.slice(1)))).has(digits);
  const isOther = (digits: string) => (others ??= new Set(phones.flatMap(numberForms))).has(digits);
  return {
    has: (digits) =>
      isInternational(digits) || ((digits.startsWith('0') || haveFormerForms) && isOther(digits)),
  };
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
      [new Set<string>()],
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

import { maskContacts, maskPhone, maskProse, namesContact } from './contacts';

/** A whole number of a phone's length. */
const DIGITS = /(?<!\d)\d{7,15}(?!\d)/g;

/**
 * Text as records keep it for ever: what looks like a contact is masked. As it was, it stands where it can be erased: in the
 * body that it came in.
 * @param phones of the people whom the text is about, in international form: also without their + they are masked.
 */
export function asRecorded<Text extends string | null>(text: Text, phones: ReadonlySet<string> = NOBODY): Text {
  if (text === null) return text;
  const masked = maskContacts(text);
  if (phones.size === 0) return masked as Text;
  return masked.replace(DIGITS, (digits) => (phones.has(`+${digits}`) ? maskDigits(digits) : digits)) as Text;
}

const NOBODY: ReadonlySet<string> = new Set<string>();

/** Sentences that somebody wrote (a reason, the upstream's word): a number of a phone's length is taken for one. */
export function proseAsRecorded<Text extends string | null>(text: Text): Text {
  return (text === null ? null : maskProse(text)) as Text;
}

/** The forms in which a text that is searched for may stand in the records. */
export function recordedForms(text: string): string[] {
  const masked = asRecorded(text);
  return [...new Set([masked, masked.replace(DIGITS, maskDigits)])];
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

import { asPlanned, callingCodeOf, lengthsFor, Line } from './numbering-plan';
import { invisibleReason, plainText } from './plain-text';
import { Spelling } from './spelling';

/** Characters that people write between digits. */
export const SEPARATORS = /[\s()./·\u2212\p{Pd}]/gu;

const CANONICAL = /^\+[1-9]\d{6,14}$/;

/** Stands before the digits of a number as it is dialed at home. Its country is not known, so it equals no international number. */
export const AT_HOME = 'tel:';

/**
 * Returns the canonical key of a phone number in any spelling: `+` and the digits of its international form, by its numbering plan.
 * A number that is dialed at home has a key of its own. Null for text that is no number, such as a masked one. The SQL function
 * phone_key() returns the same.
 */
export function phoneKey(text: string): string | null {
  const written = plainText(text).replace(SEPARATORS, '');
  const [, prefix, digits] = /^(\+|00)?(\d{7,24})$/.exec(written) ?? [];
  if (digits === undefined) return null;
  if (prefix === undefined && digits.startsWith('0')) return AT_HOME + digits.replace(/^0+/, '');
  return `+${asPlanned(digits.replace(/^0+/, ''))}`;
}

/** Reads a phone number that is to be paid. Only its canonical key is accepted, if a number of that length exists. */
export function readPhone(text: string, line: Line): Spelling {
  const key = phoneKey(text);
  // Without + or 00, nobody can tell whether a number has its calling code.
  if (key === null || !/^(?:\+|00)/.test(plainText(text))) return invisibleReason(text);
  const impossible = impossibility(key, line);
  if (impossible !== undefined) return { reason: impossible };
  return text === key ? { canonical: key } : { ...invisibleReason(text), suggestion: key };
}

/** Returns why no number has these digits. Undefined if one can have them. */
function impossibility(key: string, line: Line): string | undefined {
  const digits = key.slice(1);
  const [code, lengths] = [callingCodeOf(digits), lengthsFor(digits)?.[line]];
  if (!lengths || !CANONICAL.test(key)) return 'No country has such a number';
  const length = digits.length - code.length;
  if (lengths.has(length)) return undefined;
  const kind = line === 'mobile' ? 'Mobile numbers' : 'Numbers';
  const expected = [...lengths].sort((one, other) => one - other).join(' or ');
  return `${kind} with the country code +${code} have ${expected} digits after it, and this one has ${length}`;
}

import { callingCodes } from './numbering-plan';
import { plainText } from './plain-text';
import { phoneKey, SEPARATORS } from './recipient';

/** Shortest and longest national number, without the calling code. */
const [SHORTEST, LONGEST] = [6, 11];

const isInternational = (digits: string) => digits.length >= 7 && digits.length <= 15;

/**
 * Returns the canonical key of every possible meaning of a phone number in any spelling. People type numbers
 * as they dial them: `+254 712-345678`, `254712345678`, `00254712345678`, `0712345678` or `712345678`. A
 * number without a calling code may belong to any country, so the result has one candidate per country. Empty
 * if the text is not a phone number.
 */
export function phonesMeantBy(text: string): string[] {
  const written = plainText(text).replace(SEPARATORS, '');
  const [, prefix = '', digits = ''] = /^(\+|00)?(\d+)$/.exec(written) ?? [];
  const asWritten = isInternational(digits) ? keysOf([`+${digits}`]) : [];
  if (prefix === '+') return asWritten;
  if (prefix === '00') return digits.startsWith('0') ? [] : asWritten;
  const national = digits.replace(/^0/, '');
  const whole = digits.startsWith('0') ? [] : asWritten;
  if (national.length < SHORTEST || national.length > LONGEST) return whole;
  // Most countries drop the 0 after their calling code, which phoneKey() does. Some, such as Italy, keep it.
  return [
    ...new Set([
      ...whole,
      ...keysOf(callingCodes().flatMap((code) => [`+${code}${national}`, `+${code}${digits}`])),
    ]),
  ];
}

function keysOf(numbers: string[]): string[] {
  return numbers.flatMap((number) => phoneKey(number) ?? []);
}

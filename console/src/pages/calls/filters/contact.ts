/** Fewest digits of a phone number. Shorter numbers may be part of a name. */
const MIN_DIGITS = 6;

/**
 * Normalizes a recipient for a search. People write phone numbers with spaces, brackets and dashes, and
 * without the country code. The proxy finds them by their digits.
 */
export function asContact(text: string): string {
  const digits = text.replace(/[^\d]/g, '');
  const isPhone = /^\s*\+?[\d\s().-]+$/.test(text) && digits.length >= MIN_DIGITS;
  if (!isPhone) return text.trim();
  return text.trim().startsWith('+') ? `+${digits}` : digits;
}

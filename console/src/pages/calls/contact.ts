/** A number has as many digits at least. Shorter ones may be part of a name. */
const MIN_DIGITS = 6;

/**
 * A recipient as it is searched for. People write phone numbers with blanks, brackets and dashes, and without their country
 * code; the proxy finds them by their digits.
 */
export function asContact(text: string): string {
  const digits = text.replace(/[^\d]/g, '');
  const isPhone = /^\s*\+?[\d\s().-]+$/.test(text) && digits.length >= MIN_DIGITS;
  if (!isPhone) return text.trim();
  return text.trim().startsWith('+') ? `+${digits}` : digits;
}

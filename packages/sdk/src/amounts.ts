/** Request fields that are numbers in the interface. Decimal strings in them are sent as numbers. */
export const AMOUNT_FIELDS: readonly string[] = ['valueInUSD', 'amount'];

/** The caller's own note, which is sent unchanged. */
const NOTE = 'meta';

/** Digits of a decimal that a number always holds exactly (DBL_DIG of IEEE 754). */
const MOST_DIGITS = 15;

/**
 * Writes a request body, with decimal strings of {@link AMOUNT_FIELDS} as numbers.
 * @throws TypeError if such a string is not a decimal.
 */
export const toJson = (body: unknown): string => JSON.stringify(withNumbers(body, ''));

function withNumbers(value: unknown, name: string): unknown {
  if (name === NOTE) return value;
  if (Array.isArray(value)) return value.map((element) => withNumbers(element, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withNumbers(field, key)]));
  }
  return typeof value === 'string' && AMOUNT_FIELDS.includes(name) ? toNumber(value, name) : value;
}

function toNumber(text: string, name: string): number {
  const isExact = /^\d+(\.\d+)?$/.test(text) && text.replace('.', '').length <= MOST_DIGITS;
  if (!isExact)
    throw new TypeError(`"${name}" must be a decimal such as "12.50", with at most ${MOST_DIGITS} digits.`);
  return Number(text);
}

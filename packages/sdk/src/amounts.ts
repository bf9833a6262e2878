/**
 * The fields of requests that the interface takes as numbers. A decimal string in one of them is sent as that
 * number.
 */
export const AMOUNT_FIELDS: readonly string[] = ['valueInUSD', 'amount'];

/** The caller's own note, which is sent as it is. */
const NOTE = 'meta';

/** A number holds each decimal of fifteen digits exactly. */
const MOST_DIGITS = 15;

/**
 * Writes a request body. Amounts that are decimal strings become the numbers that the interface takes.
 * @throws TypeError if such a string is not a decimal.
 */
export const toJson = (body: unknown): string => JSON.stringify(withNumbers(body, ''));

function withNumbers(value: unknown, name: string): unknown {
  if (name === NOTE) return value;
  if (Array.isArray(value)) return value.map((each) => withNumbers(each, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each, key)]));
  }
  return typeof value === 'string' && AMOUNT_FIELDS.includes(name) ? toNumber(value, name) : value;
}

function toNumber(text: string, name: string): number {
  const isExact = /^\d+(\.\d+)?$/.test(text) && text.replace('.', '').length <= MOST_DIGITS;
  if (!isExact)
    throw new TypeError(`"${name}" must be a decimal such as "12.50", with at most ${MOST_DIGITS} digits.`);
  return Number(text);
}

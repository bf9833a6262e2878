import { randomUUID } from 'node:crypto';
import { readStrictly } from './strict-json';

/** Mark of the digits of a long integer while a text is read or written. No other text can have it. */
const MARK = `${randomUUID()}:`;

/**
 * A string, or a whole number of 16 digits and more in the position of a value. A number with more digits
 * than any column holds stays a double, because converting it would take too long.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\w.+-])-?[1-9]\d{15,254}(?=\s*[,\]}])/g;

const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/**
 * Reads JSON like `readStrictJson`, with a bigint for each whole number that a double cannot hold. Two such
 * identifiers would otherwise become one.
 * @param ofDigits makes another value of them.
 * @throws SyntaxError that may quote the text.
 */
export function readExactJson(
  json: string | Buffer,
  ofDigits: (digits: string) => unknown = BigInt,
): unknown {
  const { value, text, hasLongNumber } = readStrictly(json);
  if (!hasLongNumber) return value; // All others are read at full speed.
  const marked = text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));
  return JSON.parse(marked, (_name, one: unknown) =>
    typeof one === 'string' && one.startsWith(MARK) ? integerOf(one.slice(MARK.length), ofDigits) : one,
  );
}

/** Writes a value of `readExactJson`, with the digits of its bigints. */
export function writeExactJson(value: unknown): string {
  const marked = JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'bigint' ? `${MARK}${one}` : one,
  );
  return marked.replace(MARKED, '$1');
}

function integerOf(digits: string, ofDigits: (digits: string) => unknown): unknown {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : ofDigits(digits);
}

import { membersOf, namesIn } from './json-shape';

/**
 * Reads JSON of others on which a decision depends. Of two members with one name, some readers take the
 * first, some the last (RFC 8259, section 4). The sender and the proxy would then decide about different
 * values.
 * @param json UTF-8. Bytes that are no UTF-8 become replacement characters.
 * @throws SyntaxError that may quote the text, also for members of one name in any spelling.
 */
export function readStrictJson(json: string | Buffer): unknown {
  return readStrictly(json).value;
}

/** Returns the value, its text, and whether that has a long number. See {@link readStrictJson}. */
export function readStrictly(json: string | Buffer): {
  value: unknown;
  text: string;
  hasLongNumber: boolean;
} {
  const [text, bytes] = typeof json === 'string' ? [json, Buffer.from(json)] : [json.toString('utf8'), json];
  const value: unknown = JSON.parse(text);
  const { names, hasLongNumber } = namesIn(bytes);
  if (membersOf(value) !== names) throw new SyntaxError('an object has two members of one name');
  return { value, text, hasLongNumber };
}

/** Texts that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Returns a text as JSON, as `JSON.stringify` does. Most texts need no escapes. */
export function jsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

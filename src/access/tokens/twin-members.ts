/** A name of a member, another text, or the beginning or end of an object or a list. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

/**
 * Returns whether an object of a JSON text has two members of one name, in any spelling. Readers of such a text differ:
 * some take the first member, some the last.
 * @param json valid JSON.
 */
export function hasTwinMembers(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, text, colon] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (text !== undefined && colon !== undefined) {
      const names = open.at(-1);
      const name = JSON.parse(text) as string;
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

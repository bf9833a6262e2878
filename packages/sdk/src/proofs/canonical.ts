/** Returns canonical JSON (RFC 8785), which has JavaScript's numbers, strings, and order of names. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/**
 * Parses JSON.
 * @throws Error for a duplicate name, because parsers disagree about its value (RFC 8259, section 4).
 */
export function parseStrictly(text: string): unknown {
  const parsed = JSON.parse(text) as unknown;
  const objects: Set<unknown>[] = [];
  let last: unknown;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token !== ':') last = JSON.parse(token);
    else {
      if (objects.at(-1)?.has(last)) throw new Error(`An object has ${String(last)} twice.`);
      objects.at(-1)?.add(last);
    }
  }
  return parsed;
}

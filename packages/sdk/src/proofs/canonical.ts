/**
 * Canonical JSON (RFC 8785). JavaScript writes numbers and strings, and orders names, as the RFC requires.
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/**
 * Parses JSON.
 * @throws Error if an object has a name twice, because readers disagree about which value counts.
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
      if (objects.at(-1)?.has(last)) throw new Error(`It has ${String(last)} twice in one object.`);
      objects.at(-1)?.add(last);
    }
  }
  return parsed;
}

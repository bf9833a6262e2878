/** Fields of a body or of one of its items, by name. Numbers are text while they are typed. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isItems = (value: unknown): value is Fields[] => Array.isArray(value) && value.every(isFields);

/**
 * Returns a new item of a list.
 * @param like the same list in the sample.
 */
export const itemLike = (like: unknown): Fields => (isItems(like) ? (like[0] ?? {}) : {});

/** Returns the fields of the sample in its order, then all others. */
export const namesOf = (fields: Fields, like: Fields): string[] => [
  ...new Set([...Object.keys(like), ...Object.keys(fields)]),
];

/** Returns the body to send: without empty fields, and with numbers where the sample has numbers. */
export function bodyOf(draft: Fields, like: Fields): Fields {
  const filled = Object.entries(draft).filter(([, value]) => value !== '');
  return Object.fromEntries(
    filled.map(([name, value]) => [
      name,
      isItems(value) ? value.map((item) => bodyOf(item, itemLike(like[name]))) : numberIn(value, like[name]),
    ]),
  );
}

/**
 * Converts text to a number. Text that is not a number, or not one that JavaScript can represent exactly,
 * stays text, so that the proxy explains the error.
 */
function numberIn(value: unknown, like: unknown): unknown {
  if (typeof like !== 'number' || typeof value !== 'string') return value;
  const number = Number(value);
  const plain = value.includes('.') ? value.replace(/\.?0*$/, '') : value;
  return String(number) === plain ? number : value;
}

/** Turns `valueInUSD` into "Value in USD". */
export function labelOf(name: string): string {
  const words = name
    .split(/_|(?<=[a-z])(?=[A-Z])/)
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()));
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Parses a body, or returns the error in it. */
export function read(json: string): { body: Fields } | { fault: string } {
  try {
    const body: unknown = JSON.parse(json);
    return isFields(body)
      ? { body }
      : { fault: 'The body must be a JSON object. It starts with { and ends with }.' };
  } catch (error) {
    return {
      fault: `This is not valid JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`,
    };
  }
}

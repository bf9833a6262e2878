import fc from 'fast-check';
import { runs } from '../../../../test/support/examples/runs';
import { readExactJson } from '../../../platform/json/exact-json';
import { ListingSplitter, MalformedListing } from './listing-splitter';

interface SplitListing {
  elements: unknown[];
  envelope: unknown;
}

/** @param cuts the chunk boundaries, as parts of the length. */
function split(bytes: Buffer, cuts: number[] = []): SplitListing | undefined {
  const splitter = new ListingSplitter();
  const inner = cuts.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b);
  const boundaries = [0, ...inner, bytes.length];
  try {
    const elements = boundaries
      .slice(1)
      .flatMap((to, index) => splitter.push(bytes.subarray(boundaries[index], to)))
      .flat();
    const envelope = splitter.end();
    return splitter.listed ? { elements, envelope } : undefined;
  } catch (error) {
    if (error instanceof MalformedListing) return undefined;
    throw error;
  }
}

/** Parses the whole text at once. */
function whole(text: string): SplitListing | undefined {
  let body: { data?: unknown } | null;
  try {
    body = readExactJson(text) as typeof body;
  } catch {
    return undefined;
  }
  const outer = body?.data as unknown[] | { data?: unknown } | null | undefined;
  if (Array.isArray(outer)) return { elements: outer, envelope: { ...body, data: [] } };
  const inner: unknown = outer?.data;
  if (Array.isArray(inner)) return { elements: inner, envelope: { ...body, data: { ...outer, data: [] } } };
  return undefined;
}

const string = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '[', ']', '{', '}', ',', ':', '\n', 'é', '€', '😀'),
});
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      string,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(string, fc.constant('data')), tie('value'), { maxKeys: 4 }),
  ),
})).value;
const list = fc.array(value, { maxLength: 8 });
const others = fc.dictionary(string, value, { maxKeys: 3, noNullPrototype: true });
/** A body with other fields before and after the list. */
const body = fc.oneof(
  fc.tuple(others, list, others).map(([a, data, b]) => ({ ...a, status: 'success', data, ...without(b) })),
  fc
    .tuple(others, list, others)
    .map(([a, data, b]) => ({ data: { ...a, data, error: 'None' }, ...without(b) })),
  fc.tuple(others, value).map(([a, data]) => ({ ...a, data: typeof data === 'object' ? 'none' : data })),
);
const without = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'data'));
const indent = fc.constantFrom('', ' ', '\t', '   ');
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

describe('ListingSplitter', () => {
  it('finds the same as a parser of the whole body, at any chunk boundaries', () => {
    fc.assert(
      fc.property(body, indent, cuts, (value, space, boundaries) => {
        const text = JSON.stringify(value, null, space);
        expect(split(Buffer.from(text), boundaries)).toEqual(whole(text));
      }),
      { numRuns: runs(500) },
    );
  });

  it('rejects every listing that JSON.parse rejects, after any change of a byte or truncation', () => {
    const harm = fc.tuple(fc.nat(), fc.constantFrom(...'[]{},:"\\ax1 '), fc.nat({ max: 2 }));
    fc.assert(
      fc.property(body, harm, cuts, (value, [at, character, kind], boundaries) => {
        const text = JSON.stringify(value);
        const index = at % text.length;
        const harmed =
          text.slice(0, index) + (kind === 0 ? '' : character) + text.slice(index + (kind === 2 ? 0 : 1));
        for (const broken of [harmed, text.slice(0, index)].map((half) => Buffer.from(half))) {
          const found = split(broken, boundaries);
          if (found) expect(found).toEqual(whole(broken.toString()));
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('returns each element of a long list once and in order, and holds at most one batch', () => {
    const elements = Array.from({ length: 5_000 }, (_, index) => ({ index, note: 'é, "]'.repeat(20) }));
    const bytes = Buffer.from(JSON.stringify({ status: 'success', data: elements }));
    const splitter = new ListingSplitter();
    const batches: unknown[][] = [];
    for (let from = 0; from < bytes.length; from += 997)
      batches.push(...splitter.push(bytes.subarray(from, from + 997)));
    expect(splitter.end()).toEqual({ status: 'success', data: [] });
    expect(batches.flat()).toEqual(elements);
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThan(700);
  });

  const LONG = JSON.stringify('x'.repeat(70_000)); // a batch of its own
  it.each([
    ['a comma at the end of the list', `{"data":[${LONG},]}`],
    ['two commas', `{"data":[${LONG},,1]}`],
    ['a comma before the first', `{"data":[,${LONG}]}`],
    ['only a comma', '{"data":[,]}'],
    ['two lists', '{"data":[1],"data":[2]}'],
    ['another member of the same name', '{"data":[1],"data":2}'],
    ['a list in a list', '{"data":{"data":[1]},"data":[2]}'],
    ['a brace for a bracket', '{"data":[1}}'],
    ['text after the end', '{"data":[1]} x'],
    ['another body after the end', '{"data":[1]}{"data":[2]}'],
    ['a huge element', `{"data":["${'x'.repeat(2_000_000)}"]}`],
    ['a huge envelope', `{"x":"${'x'.repeat(2_000_000)}","data":[]}`],
    ['a list elsewhere', '{"x":{"data":[1]}}'],
    ['a list of another name', '{"\\"data":[1]}'],
    ['a list as the body', '[1]'],
    ['nothing', ''],
  ])('rejects %s', (_kind, text) => {
    expect(split(Buffer.from(text))).toBeUndefined();
    expect(split(Buffer.from(text), [0.2, 0.5, 0.9])).toBeUndefined();
  });

  it('does not quote the body in its error', () => {
    expect(() => new ListingSplitter().push(Buffer.from('{"data":[ada@example.com]'))).toThrow(/^no JSON$/);
  });
});

import fc from 'fast-check';
import { JsonShape, membersOf, namesIn, shapeOf } from './json-shape';

const MOST = 100;

/** Returns the shape of a parsed value. Lists and objects count one more value each. */
function shapeOfParsed(value: unknown): JsonShape {
  const different = new Set<string>();
  const count = (inner: unknown): Omit<JsonShape, 'differentNames'> => {
    if (typeof inner !== 'object' || inner === null) return { names: 0, values: 1, depth: 0 };
    const members: unknown[] = Object.values(inner);
    if (!Array.isArray(inner)) for (const name of Object.keys(inner)) different.add(name);
    const counts = members.map(count);
    const sum = (of: 'names' | 'values') => counts.reduce((total, one) => total + one[of], 0);
    return {
      names: sum('names') + (Array.isArray(inner) ? 0 : members.length),
      values: Math.max(1, sum('values')) + 1,
      depth: 1 + Math.max(0, ...counts.map(({ depth }) => depth)),
    };
  };
  return { ...count(value), differentNames: different.size };
}

describe('shapeOf', () => {
  it('counts the names, values and levels of any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(3), (json, indent) => {
        const value = JSON.parse(json) as unknown;
        expect(shapeOf(Buffer.from(JSON.stringify(value, null, indent)), MOST)).toEqual(shapeOfParsed(value));
      }),
    );
  });

  it('does not take text for structure', () => {
    const text = JSON.stringify({ a: '{"b":[1,2,3]}', '":{[,': '\\\\"' });
    expect(shapeOf(Buffer.from(text), MOST)).toEqual({ names: 2, differentNames: 2, values: 3, depth: 1 });
  });

  it('tells names apart up to a limit', () => {
    const named = (count: number) =>
      Buffer.from(
        JSON.stringify(
          Object.fromEntries(
            Array(count)
              .fill(0)
              .map((_, n) => [`n${n}`, n]),
          ),
        ),
      );
    expect(shapeOf(named(MOST), MOST).differentNames).toBe(MOST);
    expect(shapeOf(named(5_000), MOST).differentNames).toBe(MOST + 1);
  });
});

describe('namesIn', () => {
  const MAY_HAVE_LONG = /(?<!\d)\d{16}/;

  it('counts the names of any JSON, as many as its members', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(3), (json, indent) => {
        const value = JSON.parse(json) as unknown;
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        expect(namesIn(bytes).names).toBe(shapeOf(bytes, MOST).names);
        expect(membersOf(value)).toBe(shapeOf(bytes, MOST).names);
      }),
    );
  });

  it('finds long numbers, and no digits in texts', () => {
    const number = fc.oneof(fc.bigInt(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat());
    fc.assert(
      fc.property(fc.array(number), fc.stringMatching(/^[0-9a-f-]{0,40}$/), (numbers, text) => {
        const json = `{"${text}":[${numbers.join(', ')}],"b":"${text}"}`;
        expect(namesIn(Buffer.from(json)).hasLongNumber).toBe(MAY_HAVE_LONG.test(numbers.join(' ')));
      }),
    );
  });
});

import fc from 'fast-check';
import { runAtOnce } from '../../platform/cooperative-task';
import { shapeOf } from '../../platform/json/json-shape';
import { FaultList } from './faults';
import { findRepeatedNames } from './repeated-names';

function repeatedNames(json: string): string[] {
  const found = new FaultList();
  runAtOnce(findRepeatedNames(json, found));
  expect(found.total).toBe(found.faults.length);
  return found.faults.map(({ pointer }) => pointer);
}

const countNames = (json: string) => shapeOf(Buffer.from(json), 100).names;

/** Returns the number of members of all objects in a value. */
function members(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce((sum: number, one) => sum + members(one), Array.isArray(value) ? 0 : inner.length);
}

describe('findRepeatedNames', () => {
  it('pauses after each ten thousand tokens, so that other requests run meanwhile', () => {
    const found = new FaultList();
    const work = findRepeatedNames(`[${Array(55_000).fill('{"a":1,"a":2}').join(',')}]`, found);
    const totals = Array.from(work, () => found.total);
    expect(totals.length).toBe(Math.floor((55_000 * 6 + 1) / 10_000));
    expect(new Set(totals).size).toBe(totals.length);
    expect(found.total).toBe(55_000);
  });

  it.each<[string, string[]]>([
    ['{}', []],
    ['5', []],
    ['"a"', []],
    ['{"a":1,"b":1}', []],
    ['{"a":{"a":{"a":1}}}', []],
    ['[{"a":1},{"a":1}]', []],
    ['{"a":"a","b":"a"}', []],
    ['{"a":["a","a","a"]}', []],
    ['{"a":"\\"a\\":1,\\"a\\":1"}', []],
    ['{"a":1,"a":2}', ['/a']],
    ['{"a":1,"\\u0061":2}', ['/a']],
    ['{"a" : 1 , "a"\n:\t2}', ['/a']],
    ['{"a":1,"a":2,"a":3}', ['/a']],
    ['{"":1,"":2}', ['/']],
    ['{"a/b":1,"a/b":2}', ['/a~1b']],
    ['[1,[2,{"a":{}}],{"b":[],"b":{}}]', ['/2/b']],
    ['{"x":[{"a":1,"a":2},{"a":1},{"a":1,"a":2}]}', ['/x/0/a', '/x/2/a']],
    ['{"x":{"a":1},"y":{"a":1},"x":{"a":1}}', ['/x']],
    ['{"__proto__":1,"__proto__":2,"constructor":3}', ['/__proto__']],
  ])('finds in %s the names %j', (json, pointers) => {
    expect(repeatedNames(json)).toEqual(pointers);
    expect(countNames(json) > members(JSON.parse(json))).toBe(pointers.length > 0);
  });

  it('finds none in the output of JSON.stringify, which has each name once', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(4), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), null, indent);
        expect(repeatedNames(text)).toEqual([]);
        expect(countNames(text)).toBe(members(JSON.parse(json)));
      }),
    );
  });

  it('finds an added name anywhere in any JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), fc.json(), (before, name, after) => {
        const twice = `{${JSON.stringify(name)}:${before},${JSON.stringify(name)}:${after}}`;
        expect(repeatedNames(`[${before},${twice}]`)).toHaveLength(1);
        expect(countNames(twice)).toBeGreaterThan(members(JSON.parse(twice)));
      }),
    );
  });

  it('handles texts as long as a body can be', () => {
    for (const text of ['x'.repeat(1_000_000), '\\\\'.repeat(500_000), '\\"'.repeat(500_000)]) {
      expect(repeatedNames(`{"a":"${text}","a":1}`)).toEqual(['/a']);
      expect(countNames(`{"a":"${text}","a":1}`)).toBe(2);
    }
  });
});

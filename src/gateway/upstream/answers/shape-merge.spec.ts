import fc from 'fast-check';
import { distinctNames, JSON_VALUE } from '../../../../test/support/examples/any-json';
import { runs } from '../../../../test/support/examples/runs';
import { allows, covers, fingerprintOf, merge, Shape, shapeOf } from './shape';

describe('covers and merge', () => {
  const shape = JSON_VALUE.map(shapeOf);

  it('merges shapes into one that covers both and nothing less, in any order and any number of times', () => {
    fc.assert(
      fc.property(shape, shape, shape, (a, b, c) => {
        const both = merge(a, b);
        expect([covers(both, a), covers(both, b)]).toEqual([true, true]);
        expect(merge(b, a)).toEqual(both);
        expect(merge(merge(a, b), c)).toEqual(merge(a, merge(b, c)));
        expect(covers(a, b)).toBe(fingerprintOf(both).equals(fingerprintOf(a)));
        if (covers(c, a) && covers(c, b)) expect(covers(c, both)).toBe(true);
      }),
    );
  });

  it('allows the values whose shapes it covers', () => {
    fc.assert(
      fc.property(JSON_VALUE, JSON_VALUE, JSON_VALUE, (a, b, c) => {
        expect(allows(shapeOf(a), a)).toBe(true);
        expect(allows(shapeOf(a), b)).toBe(covers(shapeOf(a), shapeOf(b)));
        const both = merge(shapeOf(a), shapeOf(b));
        expect([allows(both, a), allows(both, b), allows(both, c)]).toEqual([
          true,
          true,
          covers(both, shapeOf(c)),
        ]);
      }),
    );
  });

  it('works with shapes that the database returned with other keys first', () => {
    fc.assert(
      fc.property(shape, (one) => {
        const back = JSON.parse(JSON.stringify(disguisedKeys(one))) as Shape;
        expect(fingerprintOf(back)).toEqual(fingerprintOf(one));
        expect(covers(back, one) && covers(one, back)).toBe(true);
      }),
    );
  });
  const disguisedKeys = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, one]) => [key, disguisedKeys(one)]),
        );

  const record = { chiRef: 'a', valueInUSD: 1, error: 'None', payouts: [{ status: 'Sent' }] };
  it.each<[string, object]>([
    ['a number where there was text, and text where there was a number', { ...record, valueInUSD: '1' }],
    ['null where there was text', { ...record, error: null }],
    ['one more field', { ...record, reference: '' }],
    ['one more field in a list', { ...record, payouts: [{ status: 'Sent', requestId: 'x' }] }],
    ['a lost field', { chiRef: 'a', valueInUSD: 1, payouts: [{ status: 'Sent' }] }],
    ['a map where there was a list', { ...record, payouts: { 0: { status: 'Sent' } } }],
  ])('detects a change: %s', (_case, changed) => {
    expect(allows(shapeOf(record), changed)).toBe(false);
  });

  it('ignores an empty list, and other values', () => {
    expect(allows(shapeOf(record), { ...record, payouts: [], chiRef: 'b' })).toBe(true);
  });

  /** Counts the answers with something new. */
  function newIn(answers: unknown[]): number {
    let known: Shape = false;
    const news = answers.filter((answer) => {
      const isNew = !allows(known, answer);
      known = merge(known, shapeOf(answer));
      return isNew;
    });
    return news.length;
  }

  it('reports records with any of ten optional fields at most twenty times, not per combination', () => {
    const record = fc
      .subarray(distinctNames(10))
      .map((some) => Object.fromEntries(some.map((one) => [one, 'x'])));
    const answers = fc.array(fc.array(record, { minLength: 1, maxLength: 3 }), {
      minLength: 100,
      maxLength: 300,
    });
    // A field: the first answer that has it, and the first that lacks it.
    fc.assert(
      fc.property(answers, (some) => newIn(some) <= 1 + 2 * 10),
      { numRuns: runs(20) },
    );
  });

  it('soon accepts an upstream that chooses names at random', () => {
    expect(newIn(distinctNames(1_000).map((one) => ({ data: { [one]: 1 } })))).toBe(65);
  });
});

import fc from 'fast-check';
import { atOnce } from '../../../../test/support/examples/at-once';
import { runs } from '../../../../test/support/examples/runs';
import { oneToOne } from './batch-match';

describe('a one-to-one assignment', () => {
  it('is found exactly when one exists', () => {
    const sides = fc.tuple(
      fc.array(fc.uniqueArray(fc.nat(4), { maxLength: 3 }), { maxLength: 5 }),
      fc.uniqueArray(fc.nat(4), { maxLength: 5 }),
    );
    fc.assert(
      fc.property(sides, ([left, right]) => {
        const given = atOnce(
          oneToOne(left, (one) => one.map((value) => right.indexOf(value)).filter((at) => at >= 0), String),
        );
        expect(given !== undefined).toBe(exists(left, right));
        expect(new Set(given).size).toBe(given?.length ?? 0);
        for (const [place, at] of given?.entries() ?? []) expect(left[place]).toContain(right[at]);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

/** Decides by exhaustive search. */
function exists([first, ...others]: number[][], right: number[]): boolean {
  return (
    !first ||
    right.some(
      (one) =>
        first.includes(one) &&
        exists(
          others,
          right.filter((other) => other !== one),
        ),
    )
  );
}

import fc from 'fast-check';
import { runs } from '../../../test/support/examples/runs';
import { Timetable } from './timetable';

const period = fc
  .tuple(fc.nat(20), fc.nat(20))
  .map(([one, other]) => ({ from: Math.min(one, other), until: Math.max(one, other) }));
const place = fc.record({ key: fc.constantFrom('a', 'b'), size: fc.nat(3), period });

describe('a timetable', () => {
  it('finds the values with an overlapping period, oldest first in each size', () => {
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), place, fc.nat(3), (places, query, more) => {
        const timetable = new Timetable<(typeof places)[number]>();
        for (const one of places) timetable.add(one.key, { size: one.size, ...one.period }, one);
        const { key, size: least } = query;
        const { from, until } = query.period;
        const most = least + more;
        const found = [...timetable.overlapping(key, { least, most, from, until })];
        const expected = places.filter(
          (one) =>
            one.key === key &&
            one.size >= least &&
            one.size <= most &&
            one.period.from <= until &&
            one.period.until >= from,
        );
        expect(new Set(found)).toEqual(new Set(expected));
        expect(found).toHaveLength(expected.length);
        for (const [at, one] of found.entries()) {
          const next = found[at + 1];
          if (next?.size === one.size) expect(one.period.from).toBeLessThanOrEqual(next.period.from);
        }
        expect(timetable.count(key)).toBe(places.filter((one) => one.key === key).length);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

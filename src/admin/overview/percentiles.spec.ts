import fc from 'fast-check';
import { percentile, STEPS_PER_E } from './percentiles';

const stepOf = (ms: number) => Math.round(Math.log(ms) * STEPS_PER_E);

describe('percentile', () => {
  it('is within 1.5 percent of the exact percentile', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (list, part) => {
          const times = new Map<number, number>();
          for (const ms of list) times.set(stepOf(ms), (times.get(stepOf(ms)) ?? 0) + 1);
          const sorted = [...list].sort((a, b) => a - b);
          const exact = sorted[Math.ceil(part * list.length) - 1] as number;
          expect(Math.abs(percentile(times, part) / exact - 1)).toBeLessThan(0.016);
        },
      ),
    );
  });

  it('approximates the time of a single response', () => {
    expect(percentile(new Map([[stepOf(100), 1]]), 0.99)).toBe(99.5);
  });
});

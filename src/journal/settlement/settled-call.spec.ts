import fc from 'fast-check';
import {
  givenUpAfterMs,
  longestUpstreamTimeout,
  sendableForMs,
} from '../../platform/config/upstream/upstream-timeouts';
import { settledAfter } from './settled-call';

describe('settledAfter', () => {
  it('never settles a call that may still be sent, at any settings', () => {
    const ms = fc.integer({ min: 100, max: 600_000 });
    const some = fc.record({
      upstreamTimeoutMs: ms,
      upstreamTimeouts: fc
        .array(fc.tuple(fc.constantFrom('POST /send', 'POST /payouts/airtime'), ms))
        .map((all) => new Map(all)),
    });
    fc.assert(
      fc.property(some, (timeouts) => {
        const { goneMs, aliveMs } = settledAfter(timeouts);
        const spare = goneMs - sendableForMs(timeouts);
        expect(spare).toBeGreaterThanOrEqual(500); // for clocks that do not run at quite the same speed
        expect(aliveMs).toBeGreaterThan(goneMs);
        expect(givenUpAfterMs(timeouts)).toBe(aliveMs);
        expect(goneMs).toBeGreaterThanOrEqual(longestUpstreamTimeout(timeouts));
      }),
    );
  });
});

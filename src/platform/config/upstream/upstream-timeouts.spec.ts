import fc from 'fast-check';
import { loadConfig } from '../config';
import {
  givenUpAfterMs,
  longestUpstreamTimeout,
  overAfterMs,
  sendableForMs,
  Timeouts,
  upstreamTimeoutOf,
} from './upstream-timeouts';

describe('upstream timeouts', () => {
  const settings = { upstreamTimeoutMs: 1_000, upstreamTimeouts: new Map([['POST /send', 5_000]]) };

  it('are read from the environment', () => {
    const { upstreamTimeouts } = loadConfig({
      UPSTREAM_TIMEOUTS: 'POST /payouts/airtime=60000, GET /info/assets=100',
    });
    expect([...upstreamTimeouts]).toEqual([
      ['POST /payouts/airtime', 60_000],
      ['GET /info/assets', 100],
    ]);
    expect(loadConfig({}).upstreamTimeouts.size).toBe(0);
  });

  it.each([
    'POST /send',
    'POST /send=',
    'POST /send=1s',
    'POST /send=99',
    'POST /send=600001',
    '=500',
    'POST /send=-500',
  ])('cannot be %s', (given) => {
    expect(() => loadConfig({ UPSTREAM_TIMEOUTS: given })).toThrow(
      /^invalid configuration: UPSTREAM_TIMEOUTS must be .* with milliseconds from 100 to 600000[^;]*$/,
    );
  });

  it('apply to their operation, or default to the common one', () => {
    expect(upstreamTimeoutOf('POST /send', settings)).toBe(5_000);
    expect(upstreamTimeoutOf('GET /wallets/list', settings)).toBe(1_000);
  });

  it('bound the time in flight by the longest timeout', () => {
    expect(longestUpstreamTimeout(settings)).toBe(5_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map() })).toBe(1_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map([['POST /send', 100]]) })).toBe(
      1_000,
    );
  });
});

const timeouts = fc.record({
  upstreamTimeoutMs: fc.integer({ min: 100, max: 600_000 }),
  upstreamTimeouts: fc.dictionary(
    fc.constantFrom('POST /send', 'POST /payouts/airtime'),
    fc.integer({ min: 100, max: 600_000 }),
  ),
});

const toTimeouts = ({
  upstreamTimeouts,
  ...rest
}: {
  upstreamTimeoutMs: number;
  upstreamTimeouts: Record<string, number>;
}) => ({ ...rest, upstreamTimeouts: new Map(Object.entries(upstreamTimeouts)) }) as Timeouts;

describe('the time after which a call may be settled', () => {
  it('is longer than the call may be sent, with at least half a second between, for any timeouts', () => {
    fc.assert(
      fc.property(timeouts, (given) => {
        const one = toTimeouts(given);
        expect(overAfterMs(one) - sendableForMs(one)).toBeGreaterThanOrEqual(500);
        expect(givenUpAfterMs(one)).toBeGreaterThan(overAfterMs(one));
      }),
    );
  });

  it('is not shorter than the timeout of any operation', () => {
    fc.assert(
      fc.property(
        timeouts,
        fc.constantFrom('POST /send', 'POST /payouts/airtime', 'POST /redeem'),
        (given, operation) => {
          const one = toTimeouts(given);
          expect(overAfterMs(one)).toBeGreaterThanOrEqual(upstreamTimeoutOf(operation, one));
        },
      ),
    );
  });
});

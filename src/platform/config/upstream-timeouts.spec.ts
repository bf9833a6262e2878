import { loadConfig } from './config';
import { longestUpstreamTimeout, upstreamTimeoutOf } from './upstream-timeouts';

describe('deadlines of operations', () => {
  const settings = { upstreamTimeoutMs: 1_000, upstreamTimeouts: new Map([['POST /send', 5_000]]) };

  it('are read from the environment', () => {
    const { upstreamTimeouts } = loadConfig({ UPSTREAM_TIMEOUTS: 'POST /payouts/airtime=60000, GET /info/assets=100' });
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
      /^invalid configuration: UPSTREAM_TIMEOUTS must be a comma-separated list of operations with milliseconds from 100 to 600000[^;]*$/,
    );
  });

  it('apply to their operation, or default to the common one', () => {
    expect(upstreamTimeoutOf('POST /send', settings)).toBe(5_000);
    expect(upstreamTimeoutOf('GET /wallets/list', settings)).toBe(1_000);
  });

  it('limit together how long anything may be in flight', () => {
    expect(longestUpstreamTimeout(settings)).toBe(5_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map() })).toBe(1_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map([['POST /send', 100]]) })).toBe(1_000);
  });
});

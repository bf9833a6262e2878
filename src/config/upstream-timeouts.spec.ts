import { longestUpstreamTimeout, upstreamTimeoutOf } from './upstream-timeouts';

describe('deadlines of operations', () => {
  const settings = { upstreamTimeoutMs: 1_000, upstreamTimeouts: new Map([['POST /send', 5_000]]) };

  it('are their own, or that of all', () => {
    expect(upstreamTimeoutOf('POST /send', settings)).toBe(5_000);
    expect(upstreamTimeoutOf('GET /wallets/list', settings)).toBe(1_000);
  });

  it('bound together how long anything may be on its way', () => {
    expect(longestUpstreamTimeout(settings)).toBe(5_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map() })).toBe(1_000);
    expect(longestUpstreamTimeout({ ...settings, upstreamTimeouts: new Map([['POST /send', 100]]) })).toBe(1_000);
  });
});

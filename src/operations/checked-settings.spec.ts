import { deadlinesByOperation } from './checked-settings';

describe('the deadlines of operations', () => {
  it('come from their classes', () => {
    const deadlines = deadlinesByOperation(new Map([['payout', 60_000]]));
    expect([...deadlines]).toEqual(
      [
        'POST /payouts/airtime',
        'POST /payouts/mobile-money',
        'POST /payouts/credit',
        'POST /account/transfer',
        'POST /wallets/transfer',
      ].map((name) => [name, 60_000]),
    );
  });

  it('have precedence over those of their classes', () => {
    const deadlines = deadlinesByOperation(
      new Map(Object.entries({ 'POST /payouts/airtime': 90_000, payout: 60_000 })),
    );
    expect(deadlines.get('POST /payouts/airtime')).toBe(90_000);
    expect(deadlines.get('POST /payouts/credit')).toBe(60_000);
  });

  it('default to UPSTREAM_TIMEOUT_MS', () => {
    expect(deadlinesByOperation(new Map()).size).toBe(0);
  });

  it('reject an unknown name', () => {
    expect(() => deadlinesByOperation(new Map([['POST /payouts/gold', 500]]))).toThrow(
      'UPSTREAM_TIMEOUTS names POST /payouts/gold, which is neither an operation nor one of payout, ' +
        'change, lookup, listing',
    );
  });
});

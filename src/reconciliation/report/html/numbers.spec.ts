import fc from 'fast-check';
import { brief, count, decimalsOf, niceCeiling, period, plural, signedUsd, usd } from './numbers';

describe('numbers on paper', () => {
  it.each([
    ['0', '0.00', '0.00'],
    ['-0', '0.00', '0.00'],
    ['1234.5', '1,234.50', '+1,234.50'],
    ['-1234567.000125', '−1,234,567.000125', '−1,234,567.000125'],
    ['12345678901234567890.1', '12,345,678,901,234,567,890.10', '+12,345,678,901,234,567,890.10'],
    ['999', '999.00', '+999.00'],
  ])('show %s US dollars as %s, and as %s in a difference', (amount, plain, signed) => {
    expect([usd(amount), signedUsd(amount)]).toEqual([plain, signed]);
  });

  it('use the decimals of the longest amount in a column', () => {
    const decimals = decimalsOf(['1', '-0.5', '0.000125']);
    expect(decimals).toBe(6);
    expect(usd('1', decimals)).toBe('1.000000');
    expect(decimalsOf([])).toBe(2);
  });

  it('abbreviate in thousands', () => {
    expect([count(0), count(1_000), plural(1, 'row'), plural(12_345, 'row')]).toEqual([
      '0',
      '1,000',
      '1 row',
      '12,345 rows',
    ]);
    expect([0, 9_999, 12_500, 1_200_000, 3e9].map(brief)).toEqual(['0', '9,999', '12.5 k', '1.2 M', '3 bn']);
  });

  it('end an axis at a round number, at most 2.5 times the value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), (value) => {
        const end = niceCeiling(value);
        expect(end).toBeGreaterThanOrEqual(value);
        expect(end).toBeLessThanOrEqual(value * 2.5);
      }),
    );
  });

  it.each([
    ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', '20 Nov 2026'],
    ['2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z', '1 Nov 2026 – 30 Nov 2026'],
    ['2026-11-20T00:00:00Z', '2026-11-20T12:30:00Z', '20 Nov 2026, 00:00:00 – 20 Nov 2026, 12:30:00 UTC'],
  ])('show a period from %s to %s as %s', (from, to, text) => {
    expect(period(new Date(from), new Date(to))).toBe(text);
  });
});

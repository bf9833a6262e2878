import Decimal from 'decimal.js';
import * as fc from 'fast-check';
import { feeOf, splitFee } from './issue';

const usd = fc.bigInt(1n, 10n ** 15n).map((micros) => new Decimal(micros.toString()).div(1_000_000));
const sum = (parts: Decimal[]) => parts.reduce((total, part) => total.plus(part), new Decimal(0));

describe('fee', () => {
  it('is rounded up to six decimals', () => {
    expect(feeOf(new Decimal('10'), new Decimal('1.5')).toFixed()).toBe('0.15');
    expect(feeOf(new Decimal('0.000001'), new Decimal('1.5')).toFixed()).toBe('0.000001');
    expect(feeOf(new Decimal('999999999999.999999'), new Decimal('33.333333')).toFixed()).toBe(
      '333333330000',
    );
    expect(feeOf(new Decimal('10'), new Decimal('0')).toFixed()).toBe('0');
  });

  it('is split without a remainder or a negative part, and not over items without cost', () => {
    fc.assert(
      fc.property(
        usd,
        fc.array(fc.oneof(usd, fc.constant(new Decimal(0))), { maxLength: 30 }),
        (fee, costs) => {
          fc.pre(sum(costs).greaterThan(0));
          const parts = splitFee(fee, costs);
          expect(sum(parts).toFixed()).toBe(fee.toFixed());
          expect(parts.some((part) => part.isNegative() || part.decimalPlaces() > 6)).toBe(false);
          expect(parts.filter((part, index) => costs[index]?.isZero() && !part.isZero())).toEqual([]);
        },
      ),
    );
  });
});

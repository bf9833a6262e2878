import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { configuredRules, feeOf, FeeRule, feesOf, readFeeRule, ruleFor, writeFeeRule } from './fees';
import { CallFee, learnedFees, ruleOfLearned, sizeOf } from './learned-fees';

const usd = (text: string | number) => new Decimal(text);
const rule = (text: string) => readFeeRule(text)!;
const fee = (text: string, amount: string) => feeOf(usd(amount), rule(text)).toFixed();

/** Amounts of all sizes, from the smallest one. */
const amount = fc
  .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: -6, max: 3 }))
  .map(([digits, exponent]) => new Decimal(10).pow(exponent).times(digits));
const tier = fc.record({
  percent: fc.nat({ max: 300 }),
  fixed: fc.nat({ max: 99 }),
  min: fc.nat({ max: 99 }),
});
const anyRule = fc
  .tuple(
    fc.array(tier, { minLength: 1, maxLength: 4 }),
    fc.uniqueArray(amount, { comparator: (a, b) => a.eq(b) }),
  )
  .map(([tiers, bounds]): FeeRule => {
    const rising = bounds.sort((one, other) => one.cmp(other)).slice(0, tiers.length - 1);
    return tiers.slice(0, rising.length + 1).map(({ percent, fixed, min }, position) => ({
      belowUsd: rising[position] ?? null,
      percent: usd(percent).div(10),
      fixedUsd: usd(fixed).div(100),
      minUsd: usd(min).div(100),
    }));
  });

describe('a rule for fees', () => {
  it('has a share, a fixed part and a minimum', () => {
    expect(fee('1.5%+0.05 min 0.10', '1')).toBe('0.1');
    expect(fee('1.5%+0.05 min 0.10', '10')).toBe('0.2');
    expect(fee('0.20', '0.01')).toBe('0.2');
    expect(fee('1.5%', '0.000001')).toBe('0.000001');
    expect(fee('0', '10')).toBe('0');
  });

  it.each([
    ['9.999999', '0.2'],
    ['10', '0.1'],
    ['99.999999', '1'],
    ['100', '2'],
    ['1000000000000', '20000000000'],
  ])('changes exactly at the amounts of its tiers: %s costs %s', (of, costs) => {
    expect(fee('<10:0.20,<100:1%,2%', of)).toBe(costs);
  });

  it.each([
    '',
    '%',
    '-1',
    '1.5 %',
    '1.5%+',
    '101%',
    '1%+0.0000001',
    '1% min',
    '1% min 1%',
    '<10:1%',
    '1%,2%',
    '<100:1%,<10:2%,3%',
    '<10:1%,<10:2%,3%',
    '<0:1%,2%',
    '10:1%,2%',
    '1%,<10:2%',
    '1%, 2%',
    '1% max 3',
    '1e3',
  ])('is refused if it is no rule: "%s"', (text) => {
    expect(readFeeRule(text)).toBeUndefined();
  });

  it('is written as it is read, and recorded with the tiers of its payouts only', () => {
    expect(writeFeeRule(rule('<10:0.20,<100:1%,2%'))).toBe('<10:0.2,<100:1%,2%');
    const used = (...of: string[]) => {
      const found = ruleFor(
        of.map((text) => ({ amountUsd: usd(text) })),
        rule('<10:0.20,<100:1%,2%'),
      );
      return found && writeFeeRule(found);
    };
    expect([used('5'), used('5', '500'), used('50', '50'), used()]).toEqual([
      '0.2',
      '<10:0.2,2%',
      '1%',
      null,
    ]);
    fc.assert(
      fc.property(anyRule, fc.array(amount, { minLength: 1, maxLength: 5 }), (whole, amounts) => {
        const items = amounts.map((amountUsd) => ({ amountUsd }));
        const recorded = readFeeRule(writeFeeRule(ruleFor(items, whole)!))!;
        for (const one of amounts) expect(feeOf(one, recorded)).toEqual(feeOf(one, whole));
        expect(feesOf(items, recorded)).toEqual(feesOf(items, whole));
      }),
    );
  });

  it('applies to an account, or is that of main', () => {
    const rules = configuredRules([
      {
        name: 'main',
        fees: new Map([
          ['POST /payouts/airtime', '1%'],
          ['POST /payouts/mobile-money', '2%'],
        ]),
      },
      { name: 'kenya', fees: new Map([['POST /payouts/airtime', '0.30']]) },
    ]);
    const written = (account: string, operation: string) =>
      writeFeeRule(rules.get(account)?.get(operation) ?? []);
    expect(written('main', 'POST /payouts/airtime')).toBe('1%');
    expect(written('kenya', 'POST /payouts/airtime')).toBe('0.3');
    expect(written('kenya', 'POST /payouts/mobile-money')).toBe('2%');
  });

  it('is refused with every fault of all accounts', () => {
    const read = () =>
      configuredRules([
        {
          name: 'main',
          fees: new Map([
            ['POST /payouts/airtime', 'free'],
            ['GET /info/assets', '1%'],
          ]),
        },
        { name: 'kenya', fees: new Map([['POST /payouts/mobile-money', '<10:1%']]) },
      ]);
    for (const fault of [
      'account main have "POST /payouts/airtime=free". "free" is no rule.',
      'account main have "GET /info/assets=1%". GET /info/assets moves no value.',
      'account kenya have "POST /payouts/mobile-money=<10:1%". "<10:1%" is no rule.',
    ])
      expect(read).toThrow(fault);
  });
});

/** Fees of calls with one payout each. */
function charged(payouts: readonly [Decimal, Decimal][]): CallFee[] {
  return payouts.map(([amountUsd, feeUsd], call) => {
    const { fromUsd: sizeUsd } = sizeOf(amountUsd)!;
    return { callId: String(call), sizeUsd, usd: Decimal.min(feeUsd, amountUsd), day: '2026-11-30' };
  });
}

const learnedFrom = (payouts: readonly [Decimal, Decimal][]) => {
  const fees = learnedFees(charged(payouts));
  return fees.length === 0 ? null : ruleOfLearned(fees);
};
const thrice = (one: string, costs: string): [Decimal, Decimal][] =>
  [1, 2, 3].map(() => [usd(one), usd(costs)]);

describe('a learned fee', () => {
  it.each([
    ['0.000001', '0.000001', '0.000002'],
    ['0.05', '0.05', '0.1'],
    ['1.999999', '1', '2'],
    ['2', '2', '5'],
    ['5', '5', '10'],
    ['99.99', '50', '100'],
  ])('is of a size of payouts: %s is from %s to below %s', (of, from, below) => {
    expect(sizeOf(usd(of))).toEqual({ fromUsd: usd(from), belowUsd: usd(below) });
  });

  it('needs three calls', () => {
    expect(learnedFrom(thrice('1', '0.05').slice(1))).toBeNull();
    expect(writeFeeRule(learnedFrom(thrice('1', '0.05'))!)).toBe('<1:2.5%,0.05');
    const [one, two] = thrice('1', '0.05');
    expect(learnedFrom([one!, two!, [usd(5), usd('0.05')]])).toBeNull();
    const fees = learnedFees(charged([...thrice('1', '0.05'), ...thrice('1', '0.9').slice(1)]));
    expect(fees).toMatchObject([{ usd: usd('0.05'), calls: 5 }]);
  });

  it('of small payouts is no share of large ones', () => {
    for (const costs of ['0.05', '0.000001']) {
      const found = learnedFrom(thrice(costs, costs))!;
      expect(feeOf(usd(60), found).toFixed()).toBe(costs);
    }
  });

  const known = fc.array(amount, { minLength: 3, maxLength: 30 });
  /** Fees that never fall with the amount. */
  const monotone = fc.array(fc.tuple(amount, fc.nat({ max: 200 })), { maxLength: 5 }).map((steps) => {
    const rising = steps.sort(([one], [other]) => one.cmp(other));
    return (of: Decimal) =>
      rising.reduce((sum, [from, cents]) => (of.gte(from) ? sum.plus(cents / 100) : sum), usd('0.001'));
  });

  it('covers what an upstream charges for an amount up to those of three calls of its size', () => {
    fc.assert(
      fc.property(monotone, known, amount, (feeFor, amounts, of) => {
        const size = sizeOf(of)!.fromUsd;
        const larger = amounts.filter((one) => sizeOf(one)!.fromUsd.eq(size) && one.gte(of));
        const seen = [...amounts, ...[of, of, of].slice(larger.length)];
        const found = learnedFrom(seen.map((one) => [one, feeFor(one)]))!;
        expect(feeOf(of, found).gte(Decimal.min(feeFor(of), of))).toBe(true);
      }),
    );
  });

  it('is never above the payout, and its record has the same', () => {
    fc.assert(
      fc.property(monotone, known, amount, (feeFor, amounts, of) => {
        const found = learnedFrom(amounts.flatMap((one) => thrice(one.toFixed(), feeFor(one).toFixed())))!;
        expect(feeOf(of, found).lte(of)).toBe(true);
        const recorded = readFeeRule(writeFeeRule(ruleFor([{ amountUsd: of }], found)!))!;
        expect(feeOf(of, recorded)).toEqual(feeOf(of, found));
      }),
    );
  });

  it('of other sizes is at most what an upstream with a share, a fixed part and a minimum charges', () => {
    fc.assert(
      fc.property(tier, known, amount, ({ percent, fixed, min }, amounts, of) => {
        const feeFor = (one: Decimal) =>
          Decimal.max(
            one
              .times(percent)
              .div(1_000)
              .plus(fixed / 100),
            min / 100,
          ).toDecimalPlaces(6, Decimal.ROUND_UP);
        const others = amounts.filter((one) => !sizeOf(one)!.fromUsd.eq(sizeOf(of)!.fromUsd));
        const found = learnedFrom(others.flatMap((one) => thrice(one.toFixed(), feeFor(one).toFixed())));
        const roundingUsd = '0.000001';
        if (found) expect(feeOf(of, found).lte(feeFor(of).plus(roundingUsd))).toBe(true);
      }),
    );
  });
});

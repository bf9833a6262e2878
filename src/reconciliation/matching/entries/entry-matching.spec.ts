import fc from 'fast-check';
import { explain } from './entry-matching';
import { Booking, Explanation, PartlyFailedBatch, WalletEntry } from './entry-offers';

const debit = (ordinal: number, amount: string, at = 0, description: string | null = null): WalletEntry => ({
  walletId: 'w',
  ordinal,
  amount,
  at,
  description,
});
const single = (batch: string, n: string | null, booking: Booking, amount: string, at = 0): Explanation => ({
  batch,
  single: n,
  booking,
  amount,
  flow: 'payout',
  fee: '0',
  at,
  late: false,
  names: [batch],
});
const batch = (name: string, booking: Booking, amount: string, at = 0) =>
  single(name, null, booking, amount, at);
const unexplained = (
  debits: WalletEntry[],
  explanations: Explanation[],
  { partlyFailed = [], outside = [] }: { partlyFailed?: PartlyFailedBatch[]; outside?: WalletEntry[] } = {},
) => {
  const explained = explain(debits, { explanations, partlyFailed, toleranceMs: 60, outside });
  return debits.filter((one) => !explained.has(one)).map(({ ordinal }) => ordinal);
};

describe('explain', () => {
  it('leaves every entry without an explanation', () => {
    expect(unexplained([debit(1, '5'), debit(2, '5')], [])).toEqual([1, 2]);
  });

  it('explains one debit with one batch, and leaves the second of the same amount', () => {
    expect(unexplained([debit(1, '5'), debit(2, '5', 10)], [batch('a', 'batch', '5')])).toEqual([2]);
  });

  it('explains nothing with another amount or at another time', () => {
    expect(
      unexplained([debit(1, '5')], [batch('a', 'batch', '5.000001'), batch('b', 'batch', '5', 61)]),
    ).toEqual([1]);
    expect(unexplained([debit(1, '5')], [batch('a', 'batch', '5', -60)])).toEqual([]);
  });

  it('reserves a transaction for a later debit without another explanation', () => {
    const explanations = [batch('a', 'batch', '5', 0), batch('b', 'batch', '5', 100)];
    expect(unexplained([debit(2, '5', 50), debit(1, '5', 110)], explanations)).toEqual([]);
  });

  it('books a batch as a whole or by its transactions, never both', () => {
    const explanations = [
      batch('a', 'batch', '5'),
      batch('a', 'batch_net', '4'),
      single('a', '1', 'single', '2'),
      single('a', '2', 'single', '3'),
    ];
    expect(unexplained([debit(1, '2'), debit(2, '3')], explanations)).toEqual([]);
    expect(unexplained([debit(1, '5'), debit(2, '2'), debit(3, '3'), debit(4, '4')], explanations)).toEqual([
      2, 3, 4,
    ]);
    expect(unexplained([debit(1, '2'), debit(2, '2')], explanations)).toEqual([2]);
  });

  it('explains a fee only if its payment was booked without it, and once', () => {
    const explanations = [
      batch('a', 'batch', '5.1'),
      batch('a', 'batch_net', '5'),
      batch('a', 'fee', '0.1'),
      single('a', '1', 'single', '5.1'),
      single('a', '1', 'single_net', '5'),
      single('a', '1', 'fee', '0.1'),
    ];
    expect(unexplained([debit(1, '5'), debit(2, '0.1')], explanations)).toEqual([]);
    expect(unexplained([debit(1, '5'), debit(2, '0.1'), debit(3, '0.1')], explanations)).toEqual([3]);
    expect(unexplained([debit(1, '5.1'), debit(2, '0.1')], explanations)).toEqual([2]);
  });

  it('explains a debit by a batch whose items failed later', () => {
    const partlyFailed = [{ batch: 'a', moved: 2_000_000, others: [1_500_000, 2_500_000], at: 0 }];
    expect(unexplained([debit(1, '4.5'), debit(2, '4.5')], [], { partlyFailed })).toEqual([2]);
    expect(unexplained([debit(1, '2')], [], { partlyFailed })).toEqual([]);
    expect(unexplained([debit(1, '6.000001')], [], { partlyFailed })).toEqual([1]);
    expect(
      unexplained([debit(1, '5', 0), debit(2, '4.5', 1)], [batch('a', 'batch', '5')], { partlyFailed }),
    ).toEqual([2]);
  });

  it('explains no other amount by a batch whose items all failed', () => {
    const partlyFailed = [{ batch: 'a', moved: 0, others: [1_500_000, 2_000_000], at: 0 }];
    expect(unexplained([debit(1, '0.1')], [], { partlyFailed })).toEqual([1]);
    expect(unexplained([debit(1, '2')], [], { partlyFailed })).toEqual([]);
  });

  it('reserves the transactions of entries outside of the period', () => {
    const explanations = [batch('a', 'batch', '5', 0)];
    expect(unexplained([debit(2, '5', 10)], explanations, { outside: [debit(1, '5', -1)] })).toEqual([2]);
    expect(unexplained([debit(2, '5', 1)], explanations, { outside: [debit(1, '5', -10)] })).toEqual([]);
  });

  it('reserves the batches of entries outside of the period', () => {
    const partlyFailed = [{ batch: 'a', moved: 0, others: [1_500_000, 2_000_000], at: 0 }];
    const whole = [batch('a', 'batch_at_first', '3.5')];
    expect(unexplained([debit(2, '2', 10)], whole, { partlyFailed, outside: [debit(1, '3.5', -1)] })).toEqual(
      [2],
    );
  });

  it('assigns a batch to the debits of its transactions if another batch explains the whole', () => {
    const ofThree = [
      single('a', '1', 'single_net', '2'),
      single('a', '2', 'single_net', '3'),
      single('a', '1', 'fee', '0.1'),
    ];
    const explanations = [batch('a', 'batch', '5.5'), batch('b', 'batch', '5.5', 10), ...ofThree];
    expect(
      unexplained([debit(1, '5.5', 1), debit(2, '2'), debit(3, '3'), debit(4, '0.1')], explanations),
    ).toEqual([]);
    expect(unexplained([debit(1, '5.5', 1), debit(2, '2'), debit(3, '5.5')], explanations)).toEqual([2]);
  });

  it('matches a payment with the debit next to its fee if two payments explain that debit', () => {
    const withFee = [
      single('a', '1', 'single', '5.1'),
      single('a', '1', 'single_net', '5'),
      single('a', '1', 'fee', '0.1'),
    ];
    const explanations = [...withFee, single('b', '2', 'single', '5')];
    expect(unexplained([debit(1, '5'), debit(2, '0.1')], explanations)).toEqual([]);
    expect(unexplained([debit(1, '5'), debit(2, '5'), debit(3, '0.1')], explanations)).toEqual([]);
    expect(unexplained([debit(1, '5'), debit(2, '0.1'), debit(3, '0.1')], explanations)).toEqual([3]);
  });

  it('explains an entry at any time if its description names the batch', () => {
    const explanations = [batch('issuer_17', 'batch', '5')];
    expect(unexplained([debit(1, '5', 1_000, 'payout issuer_17')], explanations)).toEqual([]);
    expect(unexplained([debit(1, '5', 1_000, 'payout issuer_170')], explanations)).toEqual([1]);
    expect(unexplained([debit(1, '6', 0, 'payout issuer_17')], explanations)).toEqual([1]);
  });

  it('explains money that came back late, and never early', () => {
    const back = { ...batch('a', 'batch', '5'), late: true };
    expect(unexplained([debit(1, '5', 10_000)], [back])).toEqual([]);
    expect(unexplained([debit(1, '5', -61)], [back])).toEqual([1]);
  });

  it('explains an entry without a time by any transaction of its amount', () => {
    expect(unexplained([{ ...debit(1, '5'), at: null }], [batch('a', 'batch', '5', 10_000)])).toEqual([]);
  });

  it('explains the largest possible number of debits', () => {
    const times = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 });
    fc.assert(
      fc.property(times, times, (ours, theirs) => {
        const debits = ours.map((at, ordinal) => debit(ordinal, '5', at));
        const explained =
          debits.length -
          unexplained(
            debits,
            theirs.map((at, n) => batch(`b${n}`, 'batch', '5', at)),
          ).length;
        expect(explained).toBe(mostPairs(ours, theirs, 60));
      }),
    );
  });
});

/** Returns the size of a largest matching, by augmenting paths. */
function mostPairs(ours: number[], theirs: number[], tolerance: number): number {
  const partner = new Map<number, number>();
  const augment = (one: number, seen: Set<number>): boolean =>
    theirs.some((at, place) => {
      if (seen.has(place) || Math.abs(at - (ours[one] as number)) > tolerance) return false;
      seen.add(place);
      const other = partner.get(place);
      if (other !== undefined && !augment(other, seen)) return false;
      partner.set(place, one);
      return true;
    });
  return ours.filter((_, one) => augment(one, new Set())).length;
}

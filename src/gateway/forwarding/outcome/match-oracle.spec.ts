import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_ITEM } from '../../../../test/support/payments/no-item';
import { readTransaction } from '../../upstream/answers/transactions';
import { matchItems } from './match';

const [A, B] = ['+254700000001', '+254700000002'];

/** A requested payout. */
interface One {
  phone: string;
  amount: number;
  reference: string | null;
}

/** A transaction of the answer. */
interface Other {
  phone: string | null;
  amount: number | null;
  fee: number;
  type: string;
  reference: string | null;
}

const isSame = (one: One, other: Other) => other.phone?.slice(-12) === one.phone.slice(-12);

function isNear(one: One, { amount, fee }: Other): boolean {
  if (amount === null) return true;
  return [0, fee].some((expected) => {
    const off = Math.abs(Math.abs(one.amount - amount) - expected);
    return off < 1e-9 || (Number.isInteger(amount * 100) && off < 0.01 - 1e-9);
  });
}

const contradict = (one: One, other: Other) =>
  (other.phone !== null && !isSame(one, other)) || !isNear(one, other) || other.type === 'momo';

const isExact = (one: One, other: Other) => isSame(one, other) && one.amount === other.amount;

/** Compares all items with all transactions, by rules written for this test. */
describe('matchItems', () => {
  it('agrees with a comparison of all with all', () => {
    const amount = fc.constantFrom(1, 1.004, 1.006, 2);
    const reference = fc.constantFrom(null, 'x', 'y');
    const one: fc.Arbitrary<One> = fc.record({ phone: fc.constantFrom(A, B), amount, reference });
    const other: fc.Arbitrary<Other> = fc.record({
      phone: fc.constantFrom(A, B, A.slice(1), null),
      amount: fc.oneof(amount, fc.constantFrom(0.99, 1.01, null)),
      fee: fc.constantFrom(0, 0.014),
      type: fc.constantFrom('airtime', 'momo', 'new'),
      reference,
    });
    fc.assert(fc.property(fc.array(one, { maxLength: 4 }), fc.array(other, { maxLength: 4 }), agrees), {
      numRuns: 1_000,
    });
  });

  function agrees(requested: One[], answered: Other[]): void {
    const positions = matchItems(requested.map(toItem), answered.map(toTransaction), {
      operation: 'POST /payouts/airtime',
      feeRule: null,
    }).map(({ position }) => position);
    const taken = positions.filter((position) => position !== null);
    expect(new Set(taken).size).toBe(taken.length);
    for (const [ordinal, position] of positions.entries())
      if (position !== null) expect(contradict(requested[position]!, answered[ordinal]!)).toBe(false);
    const left = requested.filter((_, position) => !taken.includes(position));
    const others = answered.filter((_, ordinal) => positions[ordinal] === null);
    const isReferred = ({ reference }: One, other: Other) =>
      reference !== null &&
      reference === other.reference &&
      requested.filter((another) => another.reference === reference).length === 1;
    const areOnly = (one: One, other: Other) =>
      isSame(one, other) &&
      left.filter((another) => isSame(another, other)).length === 1 &&
      others.filter((another) => isSame(one, another)).length === 1;
    for (const one of left) {
      for (const other of others) {
        const isLast = left.length === 1 && others.length === 1;
        if (isExact(one, other) || isReferred(one, other) || areOnly(one, other) || isLast)
          expect(contradict(one, other)).toBe(true);
      }
    }
  }
});

function toItem({ phone, amount, reference }: One) {
  return { ...NO_ITEM, recipientField: 'phone', phone, amountUsd: new Decimal(amount), reference } as const;
}

function toTransaction({ phone, amount, fee, type, reference }: Other, ordinal: number) {
  const shown = { phoneNumber: phone, valueInUSD: amount, fee, type, reference, status: 'paid' };
  return readTransaction({ chiRef: `c${ordinal}`, ...shown });
}

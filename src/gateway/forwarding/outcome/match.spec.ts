import { Decimal } from 'decimal.js';
import { NO_ITEM } from '../../../../test/support/payments/no-item';
import { readFeeRule } from '../../../operations/items/fees';
import { Item } from '../../../operations/items/item';
import { readTransaction, Transaction } from '../../upstream/answers/transactions';
import { AnsweredCall, MATCH_RULES, matchItems } from './match';

const AIRTIME: AnsweredCall = { operation: 'POST /payouts/airtime', feeRule: null };
const FEE: AnsweredCall = { ...AIRTIME, feeRule: readFeeRule('1%') ?? null };

const item = (phone: string | null, amount: number | null, more: Partial<Item> = {}): Item => ({
  ...NO_ITEM,
  recipientField: phone === null ? null : 'phone',
  phone,
  amountUsd: amount === null ? null : new Decimal(amount),
  ...more,
});
/** Reads a transaction as an answer shows it. */
const transaction = (phone: string | null, amount: number | null, more: object = {}): Transaction =>
  readTransaction({
    chiRef: 'c',
    status: 'paid',
    ...(phone !== null && { phoneNumber: phone }),
    ...(amount !== null && { valueInUSD: amount }),
    ...more,
  });
const positions = (items: Item[], transactions: Transaction[], call = AIRTIME) =>
  matchItems(items, transactions, call).map(({ position }) => position);
const differences = (items: Item[], transactions: Transaction[], call = AIRTIME) =>
  matchItems(items, transactions, call).map(({ differs }) => differs);

const [A, B, C] = ['+254700000001', '+254700000002', '+254700000003'];

describe('matchItems', () => {
  const EXAMPLES: Record<string, [items: Item[], transactions: Transaction[], expected: (number | null)[]]> =
    {
      'by reference': [
        [item(A, 1.004, { reference: 'x' }), item(A, 1.003, { reference: 'y' })],
        [transaction(A, 1, { reference: 'y' }), transaction(A, 1, { reference: 'x' })],
        [1, 0],
      ],
      'by recipient and amount': [
        [item(A, 1), item(B, 2), item(A, 3)],
        [transaction(A, 3), transaction('254700000002', 2), transaction(A, 1)],
        [2, 1, 0],
      ],
      'by recipient, if one item and one transaction of it are left': [
        [item(A, 1.004), item(B, 2.004)],
        [transaction(B, 2), transaction(A, 1)],
        [1, 0],
      ],
      'by place, if one item and one transaction are left, or each item has one without a recipient': [
        [item(A, 1), item(B, 1)],
        [transaction(null, 1), transaction(null, 1)],
        [0, 1],
      ],
    };

  it.each(MATCH_RULES.map(({ name }) => name))('matches %s', (name) => {
    const [items, transactions, expected] = EXAMPLES[name] ?? [[], [], [NaN]];
    expect(positions(items, transactions)).toEqual(expected);
  });

  it('links transactions in any order', () => {
    const items = [item(A, 1), item(B, 2), item(C, 3)];
    const answered = [transaction(A, 1), transaction(B, 2), transaction(C, 3)];
    expect(positions(items, answered)).toEqual([0, 1, 2]);
    expect(positions(items, answered.toReversed())).toEqual([2, 1, 0]);
  });

  it('links two payouts to one phone to one item each', () => {
    const items = [item(A, 1), item(A, 1), item(A, 2)];
    expect(positions(items, [transaction(A, 2), transaction(A, 1), transaction(A, 1)])).toEqual([2, 0, 1]);
  });

  it('ignores a reference that several items share', () => {
    const items = [item(A, 1, { reference: 'x' }), item(B, 2, { reference: 'x' })];
    const shown = { reference: 'x' };
    expect(positions(items, [transaction(B, 2, shown), transaction(A, 1, shown)])).toEqual([1, 0]);
    const alike = [item(A, 1.004, shown), item(A, 1.003, shown)];
    expect(positions(alike, [transaction(A, 1, shown)])).toEqual([null]); // which of the two failed?
  });

  it('refuses a reference that contradicts the recipient or the amount', () => {
    const items = [item(A, 1, { reference: 'x' }), item(B, 2, { reference: 'y' })];
    expect(positions(items, [transaction(B, 2, { reference: 'x' })])).toEqual([1]);
    expect(positions(items, [transaction(A, 3, { reference: 'x' })])).toEqual([null]);
  });

  it('compares all names of a recipient in any spelling', () => {
    const both = item(null, 1, { recipientField: 'email', email: 'ada@example.com', handle: '@ada' });
    const named = (more: object) => positions([both], [transaction(null, 1, more)]);
    expect([named({ twitter: 'ADA' }), named({ email: 'Ada@Example.com' })]).toEqual([[0], [0]]);
    expect(named({ email: 'eve@example.com', twitter: '@ada' })).toEqual([null]);
    expect(positions([item(A, 1)], [transaction('254700000001', 1)])).toEqual([0]);
    expect(positions([item(A, 1)], [transaction(A, 1, { email: 'issuer@example.com' })])).toEqual([0]);
    const transfer = item(null, 1, { recipientField: 'receiver', receiver: 'sub-1' });
    const received = (receiver: string) => positions([transfer], [transaction(null, 1, { receiver })]);
    expect([received('sub-1'), received('sub-2')]).toEqual([[0], [null]]);
  });

  it.each<[string, number, object, AnsweredCall]>([
    ['rounded to cents', 1, {}, AIRTIME],
    ['rounded up to cents', 1.01, {}, AIRTIME],
    ['net of its own fee', 0.984, { fee: 0.02 }, AIRTIME],
    ['net of its own fee, rounded to cents', 0.98, { fee: 0.02 }, AIRTIME],
    ['with its own fee', 1.024, { fee: 0.02 }, AIRTIME],
    ['net of the expected fee', 0.99396, {}, FEE],
  ])('links an amount that is %s, and records the difference', (_name, amount, more, call) => {
    const others = [item(B, 5), transaction(B, 5)] as const;
    const answered = [others[1], transaction(A, amount, more)];
    expect(positions([item(A, 1.004), others[0]], answered, call)).toEqual([1, 0]);
    expect(differences([item(A, 1.004), others[0]], answered, call)).toEqual([undefined, ['amount']]);
  });

  it('links no two inexact amounts of one recipient, because they could be exchanged', () => {
    const items = [item(A, 1.004), item(A, 1.003)];
    expect(positions(items, [transaction(A, 1), transaction(A, 1)])).toEqual([null, null]);
    expect(differences(items, [transaction(A, 1), transaction(A, 1)])).toEqual([undefined, undefined]);
  });

  it.each<[string, Transaction, string[]]>([
    ['another recipient', transaction(B, 1), ['recipient']],
    ['another type', transaction(A, 1, { type: 'momo' }), ['type']],
    ['an amount beyond fee and rounding', transaction(A, 1.000001), ['amount']],
    ['an amount beyond its fee', transaction(A, 0.9, { fee: 0.05 }), ['amount']],
  ])('refuses %s, even in its place, and records the contradiction', (_name, answered, differs) => {
    expect(matchItems([item(A, 1)], [answered], AIRTIME)).toMatchObject([{ position: null, differs }]);
  });

  it('uses the place without a recipient, but no other', () => {
    const items = [item(A, 1), item(B, 1)];
    expect(differences(items, [transaction(null, 1), transaction(null, 1)])).toEqual([
      ['recipient'],
      ['recipient'],
    ]);
    expect(positions(items, [transaction(null, 1)])).toEqual([null]); // which of the two failed?
    expect(positions(items, [transaction(null, 2), transaction(null, null)])).toEqual([null, 1]);
    expect(positions(items, [transaction(null, 1), transaction(A, 1)])).toEqual([1, 0]);
    expect(positions([item(A, 1)], [transaction('0700000001', 1)])).toEqual([0]); // in national form
    expect(positions([item(A, 1)], [transaction('0700000002', 1)])).toEqual([null]);
  });

  it('recognises a deletion by its upstream reference alone', () => {
    const deletion = item(null, null, { upstreamRef: 'x' });
    const call: AnsweredCall = { operation: 'POST /account/delete-unpaid-transaction', feeRule: null };
    const named = (chiRef: string) => positions([deletion], [transaction(A, 5, { chiRef })], call);
    expect([named('x'), named('y')]).toEqual([[0], [null]]);
  });

  it("keeps the upstream's data of a transaction, linked or not", () => {
    const amountUsd = new Decimal(5);
    expect(matchItems([], [transaction(A, 5, { id: 'i', issueID: 's' })], AIRTIME)).toEqual([
      {
        position: null,
        upstreamRef: 'c',
        upstreamId: 'i',
        batchRef: 's',
        status: 'paid',
        amountUsd,
        feeUsd: null,
      },
    ]);
  });

  it('matches thousands of payouts to one recipient, and refuses as many', () => {
    const equal = Array.from({ length: 3_000 }, () => item(A, 1));
    expect(
      positions(
        equal,
        equal.map(() => transaction(A, 1)),
      ).at(-1),
    ).toBe(2_999);
    expect(
      positions(
        equal,
        equal.map(() => transaction(A, 2)),
      ).at(-1),
    ).toBeNull();
  });
});

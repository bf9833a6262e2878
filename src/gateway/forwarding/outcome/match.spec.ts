import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_ITEM } from '../../../../test/support/payments/no-item';
import { Item } from '../../../operations/items/item';
import { readTransaction, Transaction } from '../../upstream/answers/transactions';
import { matchItems } from './match';

const item = (phone: string | null, amount: number | null, more: Partial<Item> = {}): Item => ({
  ...NO_ITEM,
  phone,
  amountUsd: amount === null ? null : new Decimal(amount),
  ...more,
});
const transaction = (
  recipients: string[],
  amount: number | null,
  more: Partial<Transaction> = {},
): Transaction => ({
  ...readTransaction({ chiRef: 'c', status: 'paid' }),
  recipients,
  amountUsd: amount === null ? null : new Decimal(amount),
  ...more,
});
const positions = (items: Item[], transactions: Transaction[]) =>
  matchItems(items, transactions).map(({ position }) => position);

const [A, B, C] = ['+254700000001', '+254700000002', '+254700000003'];

describe('matchItems', () => {
  it('links transactions in any order', () => {
    const items = [item(A, 1), item(B, 2), item(C, 3)];
    expect(positions(items, [transaction([A], 1), transaction([B], 2), transaction([C], 3)])).toEqual([
      0, 1, 2,
    ]);
    expect(positions(items, [transaction([C], 3), transaction([A], 1), transaction([B], 2)])).toEqual([
      2, 0, 1,
    ]);
  });

  it('links two payouts to one phone to one item each', () => {
    const items = [item(A, 1), item(A, 1), item(A, 2)];
    expect(positions(items, [transaction([A], 2), transaction([A], 1), transaction([A], 1)])).toEqual([
      2, 1, 0,
    ]);
  });

  it('links nothing to an item of another amount or recipient', () => {
    expect(positions([item(A, 1)], [transaction([A], 1.000001)])).toEqual([null]);
    expect(positions([item(A, 1)], [transaction([B], 1)])).toEqual([null]);
  });

  it('compares amounts as decimals, and recipients without case', () => {
    const handle = item(null, 0.1, { handle: '@Ada' });
    expect(positions([handle], [transaction(['@ada'], null, { amountUsd: new Decimal('0.100') })])).toEqual([
      0,
    ]);
  });

  it('recognises an item by any of its recipients', () => {
    const both = item(null, 1, { email: 'ada@example.com', handle: '@ada' });
    expect(positions([both], [transaction(['@ada'], 1)])).toEqual([0]);
    expect(positions([item(A, 1)], [transaction(['issuer@example.com', A], 1)])).toEqual([0]);
  });

  it('uses the position without recipients only with one transaction per item', () => {
    const items = [item(A, 1), item(B, 1)];
    expect(positions(items, [transaction([], 1), transaction([], 1)])).toEqual([0, 1]);
    expect(positions(items, [transaction([], 1)])).toEqual([null]); // which of the two failed?
    expect(positions(items, [transaction([], 2), transaction([], null)])).toEqual([null, 1]);
  });

  it('recognises a deletion by its upstream reference alone', () => {
    const deletion = item(null, null, { upstreamRef: 'x' });
    expect(positions([deletion], [transaction(['ada@example.com'], 5, { upstreamRef: 'x' })])).toEqual([0]);
    expect(positions([deletion], [transaction([], 5, { upstreamRef: 'y' })])).toEqual([null]);
  });

  it("keeps the upstream's data of a transaction, linked or not", () => {
    const amountUsd = new Decimal(5);
    expect(matchItems([], [transaction([A], 5, { upstreamId: 'i', batchRef: 's', amountUsd })])).toEqual([
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

  it('links no item twice and only matching ones, and all if the answer is the items in any order', () => {
    const items = fc.array(
      fc.record({ phone: fc.constantFrom(A, B, C), amount: fc.integer({ min: 1, max: 3 }) }),
    );
    fc.assert(
      fc.property(items, items, fc.boolean(), (requested, others, same) => {
        const answered = same ? [...requested].sort((x, y) => x.amount - y.amount) : others;
        const linked = positions(
          requested.map(({ phone, amount }) => item(phone, amount)),
          answered.map(({ phone, amount }) => transaction([phone], amount)),
        );
        const taken = linked.filter((position) => position !== null);
        expect(new Set(taken).size).toBe(taken.length);
        if (same) expect(taken).toHaveLength(requested.length);
        linked.forEach((position, ordinal) => {
          if (position !== null) expect(requested[position]).toEqual(answered[ordinal]);
        });
      }),
    );
  });
});

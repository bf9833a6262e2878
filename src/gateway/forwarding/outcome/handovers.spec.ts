import { NO_ITEM } from '../../../../test/support/payments/no-item';
import { ListedPayout } from '../../upstream/answers/payouts';
import { withPayouts } from './handovers';

const [A, B] = ['+254700000001', '+254700000002'];
const items = (...phones: (string | null)[]) => phones.map((phone) => ({ ...NO_ITEM, phone }));
const found = (...positions: (number | null)[]) =>
  positions.map((position) => ({
    position,
    upstreamRef: `ref ${position}`,
    upstreamId: null,
    batchRef: null,
    status: 'paid',
    amountUsd: null,
    feeUsd: null,
  }));
const payouts = (...phones: (string | null)[]): ListedPayout[] =>
  phones.map((phone, index) => ({ index, phone, status: `payout ${index}`, error: null }));
const statuses = (...given: Parameters<typeof withPayouts>) =>
  withPayouts(...given).map(({ position, upstreamRef, payoutStatus }) => [
    position,
    upstreamRef,
    payoutStatus,
  ]);

describe('withPayouts', () => {
  it('adds each payout to the transaction of its item, in any order and spelling', () => {
    const both = [
      [0, 'ref 0', 'payout 0'],
      [1, 'ref 1', 'payout 1'],
    ];
    expect(statuses(items(A, B), found(0, 1), payouts(A, '254700000002'))).toEqual(both);
    const turned = [
      [0, 'ref 0', 'payout 1'],
      [1, 'ref 1', 'payout 0'],
    ];
    expect(statuses(items(A, B), found(0, 1), payouts(B, A))).toEqual(turned);
    expect(statuses(items(A, A), found(0, 1), payouts(A, A))).toEqual(both);
    expect(statuses(items(A, B), found(0, 1), payouts(null, null))).toEqual(both);
  });

  it('gives a payout without a transaction or a certain item its own entry', () => {
    expect(statuses(items(A, B), found(0), payouts(A, B))).toEqual([
      [0, 'ref 0', 'payout 0'],
      [1, null, 'payout 1'],
    ]);
    expect(statuses(items(A, B), found(0, null), payouts('+254799999999', null))).toEqual([
      [0, 'ref 0', undefined],
      [null, 'ref null', undefined],
      [null, null, 'payout 0'],
      [1, null, 'payout 1'],
    ]);
    expect(statuses(items(A, B), found(0, 1), payouts(null)).slice(2)).toEqual([[null, null, 'payout 0']]);
  });

  it('links no item to two payouts', () => {
    expect(statuses(items(A), found(0), payouts(A, A))).toEqual([
      [0, 'ref 0', 'payout 0'],
      [null, null, 'payout 1'],
    ]);
  });

  it('changes nothing without payouts', () => {
    const given = found(0, null);
    expect(withPayouts(items(A), given, [])).toBe(given);
  });
});

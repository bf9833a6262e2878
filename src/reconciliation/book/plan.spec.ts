import { CREATED_BY } from '../../operations/items/effects';
import { COMPARED_OPERATIONS, DELETING, INCOMING_TYPES, NOT_COMPARED } from './plan';

describe('the compared operations', () => {
  it('are those that create transactions', () => {
    expect(COMPARED_OPERATIONS.map(({ operation }) => operation)).toEqual([...CREATED_BY.keys()]);
    expect(CREATED_BY.size).toBe(9);
  });

  it.each([
    ['POST /payouts/airtime', true, true, true, false],
    ['POST /wallets/transfer', true, false, false, false],
    ['POST /send', false, false, false, false],
    ['POST /collections/mobile-money/collect', false, false, false, true],
  ])(
    'state how they move money, and whether they take fees and are always listed: %s',
    (operation, paid_at_once, takes_fee, always_listed, incoming) => {
      const compared = COMPARED_OPERATIONS.find((one) => one.operation === operation);
      expect(compared).toMatchObject({ paid_at_once, takes_fee, always_listed, incoming });
    },
  );

  it('exclude those that change a transaction or create none', () => {
    expect(NOT_COMPARED).toEqual([
      'POST /account/delete-unpaid-transaction',
      'POST /collections/mobile-money/verify',
      'POST /redeem/airtime',
      'POST /sub-account/create',
    ]);
    expect(DELETING).toEqual(['POST /account/delete-unpaid-transaction']);
  });

  it('receive money under the type payment only', () => {
    expect(INCOMING_TYPES).toEqual(['payment']);
  });
});

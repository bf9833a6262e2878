import { CREATED_BY } from '../../operations/effects';
import { DELETING, INCOMING_TYPES, MAKE_COMPARED_OPERATIONS, NOT_COMPARED } from './compared-operations';

describe('the compared operations', () => {
  it('are those that create transactions', () => {
    for (const name of CREATED_BY.keys()) expect(MAKE_COMPARED_OPERATIONS).toContain(`('${name}', `);
    expect(CREATED_BY.size).toBe(9);
  });

  it('state whether money moves, whether a fee is due, whether they are always listed, and whether money comes in', () => {
    expect(MAKE_COMPARED_OPERATIONS).toContain("('POST /payouts/airtime', true, true, true, false)");
    expect(MAKE_COMPARED_OPERATIONS).toContain("('POST /wallets/transfer', true, false, false, false)");
    expect(MAKE_COMPARED_OPERATIONS).toContain("('POST /send', false, false, false, false)");
    expect(MAKE_COMPARED_OPERATIONS).toContain("('POST /collections/mobile-money/collect', false, false, false, true)");
  });

  it('exclude those that change a transaction or create none', () => {
    expect(NOT_COMPARED.split(', ')).toEqual([
      "'POST /account/delete-unpaid-transaction'",
      "'POST /collections/mobile-money/verify'",
      "'POST /redeem/airtime'",
      "'POST /sub-account/create'",
    ]);
    expect(DELETING).toBe("'POST /account/delete-unpaid-transaction'");
  });

  it('receive money under the type payment only', () => {
    expect(INCOMING_TYPES).toBe("'payment'");
  });
});

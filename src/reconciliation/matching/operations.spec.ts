import { OperationRow, OPERATIONS } from '../../operations/operations';
import { COLLECTIONS, COMPARED, LINKS, NOT_COMPARED, PAYOUTS, TRANSFERS } from './operations';

describe('the operations that are compared', () => {
  const effectOf = (name: string) => (OPERATIONS as Record<string, OperationRow>)[name]?.effect;

  it('are those whose transactions the listing shows', () => {
    expect(PAYOUTS).toEqual(['POST /payouts/airtime', 'POST /payouts/mobile-money', 'POST /payouts/credit']);
    expect(TRANSFERS).toEqual(['POST /account/transfer', 'POST /wallets/transfer']);
    expect(LINKS).toEqual(['POST /send', 'POST /payouts/initiate-credit']);
    expect(COLLECTIONS).toEqual(['POST /collections/mobile-money/collect', 'POST /collections/mobile-money/initiate']);
    expect(COMPARED).toHaveLength(9);
  });

  it('pay where value leaves a wallet, and write where it does not', () => {
    expect([...PAYOUTS, ...TRANSFERS].map(effectOf)).toEqual(Array(5).fill('pay'));
    expect([...LINKS, ...COLLECTIONS].map(effectOf)).toEqual(Array(4).fill('write'));
  });

  it('are, with those that are not compared, all that can be in doubt', () => {
    const changing = Object.entries(OPERATIONS).filter(([, { effect }]) => effect !== 'read');
    expect([...COMPARED, ...NOT_COMPARED].sort()).toEqual(changing.map(([name]) => name).sort());
  });
});

import { LIES } from '../../support/simulator/lies';
import { tableOf } from './oracle';
import { play } from './scenario';

describe('payouts at an upstream that lies', () => {
  it('have the states of its own ledger, and nobody is paid too often', async () => {
    expect(tableOf(await play(Object.keys(LIES), { habits: 1, orders: 1 }))).toBe('');
  });
});

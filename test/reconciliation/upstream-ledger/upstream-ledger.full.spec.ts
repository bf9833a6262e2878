import { LIES } from '../../support/simulator/lies';
import { tableOf } from './oracle';
import { play } from './scenario';

/** Lies of one world. All lies and habits together make over 2,000 payments. */
const AT_ONCE = 20;

const NAMES = Object.keys(LIES);
const BATCHES = Array.from({ length: Math.ceil(NAMES.length / AT_ONCE) }, (_, nth) =>
  NAMES.slice(nth * AT_ONCE, (nth + 1) * AT_ONCE),
);

describe('thousands of payouts at an upstream that lies', () => {
  it.each(BATCHES)('have the states of its own ledger, from the lie %s on', async (...names) => {
    const lies = names.filter((name) => typeof name === 'string');
    expect(tableOf(await play(lies, { habits: 5, orders: 2 }))).toBe('');
  });
});

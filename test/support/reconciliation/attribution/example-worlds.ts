import { World, WorldCall, WorldPayout, WorldRow } from './small-world';

const payout = (more: Partial<WorldPayout> = {}): WorldPayout => {
  return { to: 'a', usd: '1', reference: null, names: null, ...more };
};
const airtime = (payouts: WorldPayout[], more: Partial<WorldCall> = {}): WorldCall => {
  return {
    operation: 'POST /payouts/airtime',
    at: 0,
    kind: 'lost',
    batch: null,
    unplaced: null,
    omitsIds: false,
    payouts,
    ...more,
  };
};
const mobileMoney = (payouts: WorldPayout[], more: Partial<WorldCall> = {}): WorldCall =>
  airtime(payouts, { operation: 'POST /payouts/mobile-money', ...more });
const row = (more: Partial<WorldRow> = {}): WorldRow => {
  const none = { fee: null, reference: null, batch: null, repeats: null, sharesId: null };
  return { at: 10, to: 'a', usd: '1', type: 'airtime', hasId: true, isLate: false, ...none, ...more };
};

/** A payout whose listed ID shows that the upstream lists the IDs of the proxy. */
export const SHOWN: World = {
  calls: [mobileMoney([payout({ usd: '7' })])],
  rows: [row({ usd: '7', type: 'mobile_money', reference: 0 })],
};

const answered = { kind: 'answered' } as const;

/** Two equal calls that lost their answers, with a transaction for each. */
export const EQUAL_CALLS: World = {
  calls: [airtime([payout()]), airtime([payout()], { at: 100 })],
  rows: [row({ at: 70 }), row({ at: 110 })],
};

/** An answer that names a transaction for its second payout, which is like the first one. */
export const REFUTED_ANSWER: World = {
  calls: [mobileMoney([payout({ usd: '2' }), payout({ to: 'b', names: 0 })], answered)],
  rows: [row({ usd: '2', type: 'mobile_money' })],
};

/** Two equal payouts, the second without a named transaction, and a batch that has one for it, or two. */
export const ERASED_BATCH: World = {
  calls: [airtime([payout({ names: 0 }), payout()], { ...answered, batch: 'b' })],
  rows: [row({ batch: 'b' }), row({ batch: 'b' }), row({ to: 'b', batch: 'b' })],
};

/** Worlds with one difficulty each. */
export const EXAMPLE_WORLDS: World[] = [
  EQUAL_CALLS,
  // The second payout takes what the first one could have, which then takes the other.
  {
    calls: [airtime([payout(), payout({ reference: 'x' })])],
    rows: [row(), row({ reference: 'y' })],
  },
  // A transaction without a type fits two operations.
  {
    calls: [airtime([payout()]), mobileMoney([payout({ reference: 'y' })], { kind: 'confirmed' })],
    rows: [row({ type: null, reference: 'x' })],
  },
  // The named transaction contradicts the payout that is left, which another one fits.
  {
    calls: [airtime([payout()], { ...answered, unplaced: 0 })],
    rows: [row({ to: 'b' }), row()],
  },
  // An answer also names a transaction of another recipient, which is listed first.
  {
    calls: [
      airtime([payout({ to: 'b', names: 0 })], { ...answered, at: 400, unplaced: 1 }),
      airtime([payout({ to: 'b', usd: '2', names: 0 })], answered),
    ],
    rows: [row({ to: 'b' }), row({ isLate: true })],
  },
  // A class leaves a payout and a named transaction alone.
  {
    calls: [airtime([payout(), payout({ usd: '2' })], { ...answered, unplaced: 1 })],
    rows: [row({ usd: '2' }), row({ usd: '0.99' })],
  },
  // A class has a transaction of the batch, which no answer names.
  {
    calls: [airtime([payout(), payout({ to: 'b' })])],
    rows: [row({ batch: 'b' }), row({ to: 'b', at: -500, batch: 'b' })],
  },
  // A second transaction with the ID of a call has the batch of another.
  {
    calls: [mobileMoney([payout()]), mobileMoney([payout({ reference: 'y' })], { ...answered, batch: 'b' })],
    rows: [
      row({ type: 'mobile_money', reference: 0 }),
      row({ at: 70, type: 'mobile_money', reference: 0, batch: 'b' }),
    ],
  },
  // The first of two transactions with an ID has another type.
  {
    calls: [mobileMoney([payout()])],
    rows: [row({ reference: 0 }), row({ at: 70, type: 'mobile_money', reference: 0 })],
  },
  // A batch gives a transaction without an ID to a payout with one.
  {
    calls: [mobileMoney([payout()], { ...answered, batch: 'b' }), mobileMoney([payout({ to: 'b' })])],
    rows: [row({ type: 'mobile_money', batch: 'b' }), row({ to: 'b', type: 'mobile_money' })],
  },
  // An answer without an amount names a transaction with another one.
  { calls: [airtime([payout({ names: 0 })], answered)], rows: [row({ usd: '2' })] },
  // An earlier answer names the transaction without a payout, and a later one for a payout.
  {
    calls: [
      airtime([payout({ to: 'b' })], { ...answered, unplaced: 0 }),
      airtime([payout({ usd: '2', names: 0 })], { ...answered, at: 100 }),
    ],
    rows: [row({ usd: '0.95' })],
  },
  // A transaction with the ID of a payout is to another recipient, and the answer names the batch of its own.
  {
    calls: [mobileMoney([payout({ usd: '2' }), payout()], { kind: 'answered', batch: 'b' })],
    rows: [
      row({ to: 'b', type: 'mobile_money', reference: 1 }),
      row({ type: null, reference: 'y', batch: 'b', isLate: true }),
    ],
  },
  // The same, and a payout of another call is like the transaction of the batch.
  {
    calls: [mobileMoney([payout()], { ...answered, batch: 'b' }), mobileMoney([payout({ reference: 'y' })])],
    rows: [
      row({ to: 'b', type: 'mobile_money', reference: 0 }),
      row({ type: 'mobile_money', reference: 'y', batch: 'b' }),
    ],
  },
  // A transaction of the batch is of another type, and another one is like the payout.
  {
    calls: [airtime([payout({ reference: 'y' })], { kind: 'answered', batch: 'b' })],
    rows: [row({ type: 'mobile_money', batch: 'b' }), row({ reference: 'y' })],
  },
  // A transaction without a type has the reference of a payout of another operation.
  {
    calls: [mobileMoney([payout({ reference: 'x' })], { at: 100 }), airtime([payout()], { at: 400 })],
    rows: [row({ at: 5000, type: null, reference: 'x' })],
  },
  // Two answers name a transaction that contradicts both. It has the ID of one of the two calls.
  {
    calls: [
      mobileMoney([payout({ usd: '2', reference: 'x' }), payout({ to: 'b', names: 0 })], answered),
      mobileMoney([payout({ to: 'b', names: 0 })], answered),
    ],
    rows: [row({ usd: '2', type: 'mobile_money', reference: 1, batch: 'b' })],
  },
  // Two answers name a batch. The call of one of them gets its only transaction by likeness.
  {
    calls: [
      mobileMoney([payout({ to: 'b' })], { ...answered, batch: 'b' }),
      airtime([payout()], { ...answered, unplaced: 0 }),
    ],
    rows: [row({ to: 'b', type: 'mobile_money', reference: 'x', batch: 'b' }), row()],
  },
  // Two answers name a transaction with the ID of another call, whose payout agrees with it.
  {
    calls: [
      mobileMoney([payout()]),
      mobileMoney([payout({ to: 'b', reference: 'x', names: 0 })], answered),
      mobileMoney([payout({ usd: '2', names: 0 })], { ...answered, at: 400 }),
    ],
    rows: [row({ type: null, reference: 0 })],
  },
  // Two answers name a transaction that contradicts both. One of them names another one, without a payout.
  {
    calls: [
      airtime([payout({ names: 0 })], answered),
      mobileMoney([payout({ to: 'b', usd: '2', names: 0 })], { ...answered, unplaced: 1 }),
    ],
    rows: [row({ to: 'b', usd: '2' }), row({ to: 'b', usd: '2', type: null, reference: 1 })],
  },
];

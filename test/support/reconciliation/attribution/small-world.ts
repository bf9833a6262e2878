import fc from 'fast-check';

/** Kinds of calls, in the order in which their payouts get transactions of a class. */
export const CALL_KINDS = ['answered', 'confirmed', 'lost', 'rejected', 'not_executed'] as const;

/** A payout of a small world. */
export interface WorldPayout {
  to: string;
  usd: string;
  /** Of the app. Null if it states none. */
  reference: string | null;
  /** The transaction that the answer names for it. */
  names: number | null;
}

export interface WorldCall {
  operation: keyof typeof TYPE_OF;
  /** In seconds. */
  at: number;
  kind: (typeof CALL_KINDS)[number];
  payouts: WorldPayout[];
  /** The batch and the transaction that the answer names without assigning them to a payout. */
  batch: string | null;
  unplaced: number | null;
  /** Whether the answer names transactions by their references alone. */
  omitsIds: boolean;
}

/** A transaction, as the upstream lists it. */
export interface WorldRow {
  at: number;
  to: string | null;
  usd: string;
  fee: string | null;
  type: 'airtime' | 'mobile_money' | 'fee' | null;
  /** The number of a payout stands for the ID that the proxy wrote into its request. */
  reference: string | number | null;
  batch: string | null;
  hasId: boolean;
  /** The earlier transaction whose reference it repeats. */
  repeats: number | null;
  /** The earlier transaction whose ID it has too. It is of another party, whom no call pays. */
  sharesId: number | null;
  /** Whether it is listed later than others. */
  isLate: boolean;
}

export interface World {
  calls: WorldCall[];
  rows: WorldRow[];
}

/** Window of a transaction around its payout, usually. */
export const USUAL = { beforeSeconds: 60, afterSeconds: 200 };

/** The type of the transactions of an operation. */
export const TYPE_OF = {
  'POST /payouts/airtime': 'airtime',
  'POST /payouts/mobile-money': 'mobile_money',
} as const;

const usd = fc.constantFrom('1', '1', '2');
const reference = fc.constantFrom(null, null, 'x', 'y');
const batch = fc.constantFrom(null, null, 'b', 'c');
const place = fc.constantFrom(null, null, 0, 1, 2, 3);

const payout: fc.Arbitrary<WorldPayout> = fc.record({
  to: fc.constantFrom('a', 'a', 'b'),
  usd,
  reference,
  names: place,
});
const call: fc.Arbitrary<WorldCall> = fc.record({
  operation: fc.constantFrom<WorldCall['operation'][]>('POST /payouts/airtime', 'POST /payouts/mobile-money'),
  at: fc.constantFrom(0, 100, 400),
  kind: fc.constantFrom('lost', 'lost', 'answered', 'answered', 'rejected', 'not_executed', 'confirmed'),
  payouts: fc.array(payout, { minLength: 1, maxLength: 3 }),
  batch,
  unplaced: place,
  omitsIds: fc.boolean(),
});
const row: fc.Arbitrary<WorldRow> = fc.record({
  at: fc.constantFrom(-500, -30, 10, 70, 110, 390, 410, 5_000),
  to: fc.constantFrom('a', 'a', 'a', 'b', 'b', null),
  usd: fc.constantFrom('1', '1', '1', '2', '2', '0.99', '0.95'),
  fee: fc.constantFrom(null, null, '0.05'),
  type: fc.constantFrom('airtime', 'airtime', 'mobile_money', 'mobile_money', null, 'fee'),
  reference: fc.oneof(reference, reference, fc.nat(4)),
  batch,
  hasId: fc.boolean(),
  repeats: fc.constantFrom(null, null, null, null, null, 0, 1),
  sharesId: fc.constantFrom(null, null, null, null, null, 0, 1),
  isLate: fc.boolean(),
});

/** Worlds of up to five payouts and six transactions, with few different facts. */
export const world: fc.Arbitrary<World> = fc
  .record({
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    rows: fc.array(row, { maxLength: 6 }),
  })
  .map(toSound);

const MOST_PAYOUTS = 5;

/** Recipient of a transaction of another party. */
const OTHER_PARTY = 'c';

/** Removes what no answer and no listing can show: names without a transaction, and repeated names. */
function toSound({ calls, rows }: World): World {
  let left = MOST_PAYOUTS;
  const named = new Set<number>();
  const unplaced = new Set<number | null>([null]);
  const fresh = (at: number | null) => {
    if (at === null || named.has(at) || rows[at]?.repeats !== null) return null;
    named.add(at);
    return at;
  };
  /** One call names it without a payout. */
  const only = (at: number | null) => {
    if (unplaced.has(at)) return null;
    unplaced.add(at);
    return at;
  };
  const sound = calls.flatMap((one) => {
    const payouts = one.payouts.slice(0, left);
    left -= payouts.length;
    if (payouts.length === 0) return [];
    if (one.kind !== 'answered')
      return [{ ...one, payouts: payouts.map(unnamed), batch: null, unplaced: null }];
    named.clear(); // Two answers can name one transaction.
    const own = payouts.map((each) => ({ ...each, names: fresh(each.names) }));
    return [{ ...one, payouts: own, unplaced: only(fresh(one.unplaced)) }];
  });
  const hasRepeats = rows.some(({ repeats }, index) => repeats !== null && repeats < index);
  return withIds({
    // A reference that is repeated and has no ID is no name.
    calls: sound.map((one) => ({ ...one, omitsIds: one.omitsIds && !hasRepeats })),
    rows: rows.map((one, index) => {
      const repeats = one.repeats !== null && one.repeats < index ? one.repeats : null;
      const sharesId = hasRepeats ? null : sharedIdOf(rows, index);
      const isShared = rows.some((other, at) => other.repeats === index || sharedIdOf(rows, at) === index);
      return {
        ...one,
        to: sharesId === null ? one.to : OTHER_PARTY,
        repeats,
        sharesId,
        hasId: one.hasId || isShared || repeats !== null || sharesId !== null,
      };
    }),
  });
}

function sharedIdOf(rows: WorldRow[], index: number): number | null {
  const { sharesId: at } = rows[index] as WorldRow;
  const other = at === null || at >= index ? undefined : rows[at];
  return other && other.sharesId === null && other.to !== null ? at : null;
}

/** A transaction that an answer names has the ID in its request. Without it, the upstream drops IDs. */
function withIds(drawn: World): World {
  const all = payoutsOf(drawn);
  const isOwn = (at: WorldRow['reference']) =>
    typeof at === 'string' || (typeof at === 'number' && all[at] && isMarked(all[at]));
  const rows = drawn.rows.map((one, index) => {
    const own = all.findIndex((payout) => isMarked(payout) && namesInCall(payout.call).includes(index));
    return isOwn(one.reference) || own < 0 ? one : { ...one, reference: own };
  });
  return { ...drawn, rows };
}

/** Returns the batches that the answer to a call names. */
export const batchesOf = ({ rows }: World, call: WorldCall) =>
  [call.batch, ...namesInCall(call).map((one) => rows[one]?.batch ?? null)].filter((one) => one !== null);

/** Returns whether the proxy writes an ID into the request of a payout. */
export const isMarked = ({ call: { operation }, reference: own }: PlacedPayout) =>
  TYPE_OF[operation] === 'mobile_money' && own === null;

/** Returns the transactions that the answer to a call names. */
const namesInCall = ({ payouts, unplaced }: WorldCall) =>
  [unplaced, ...payouts.map(({ names }) => names)].filter((one) => one !== null);

const unnamed = (payout: WorldPayout) => ({ ...payout, names: null });

/** The payouts of a world, with their calls and places. */
export function payoutsOf({ calls }: World) {
  return calls.flatMap((each, index) =>
    each.payouts.map((one, position) => ({ ...one, call: each, callIndex: index, position })),
  );
}

export type PlacedPayout = ReturnType<typeof payoutsOf>[number];

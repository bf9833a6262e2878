import fc from 'fast-check';
import { atOnce } from '../../../../test/support/examples/at-once';
import { runs } from '../../../../test/support/examples/runs';
import { compareWithAll } from '../../../../test/support/reconciliation/exhaustive-comparison';
import { at, RULES, worded } from '../../../../test/support/reconciliation/generated-doubts';
import { ListedTransaction, SentCall, Verdict, ItemInDoubt } from '../calls-in-doubt';
import { Batches } from './batches';
import { CompetingCalls } from './competing-calls';
import { quietUntil } from './facts';
import { judge } from './verdict';

/** Few names and amounts, which make calls and transactions similar in every way. */
const NAMES = ['+254712345671', 'tel:712345671', '+999912345671', 'ada@example.com', '@ada', 'uid'];
const names: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(NAMES.slice(0, 1)) },
  { weight: 2, arbitrary: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }) },
);
const amountUsd = fc.constantFrom('1.000000', '1.000000', '1.000000', '2.000000', null);
const reference = fc.constantFrom(null, null, 'x', 'y');
const item: fc.Arbitrary<Omit<ItemInDoubt, 'position'>> = fc
  .record({ names, amountUsd, reference, upstreamRef: fc.constant(null) })
  .map((one) => ({ ...one, payee: one.names }));
const call = fc.record({
  operation: fc.constantFrom(
    'POST /payouts/airtime',
    'POST /payouts/airtime',
    'POST /account/transfer',
    'POST /send',
    'POST /collections/mobile-money/collect',
  ),
  items: fc.array(item, { minLength: 1, maxLength: 3 }),
  second: fc.nat(200),
  /** A process may freeze before it gives a call up. */
  seconds: fc.constantFrom(1, 5, 300),
});
/** A change makes a listed transaction differ from the item that it is copied from. */
const change: fc.Arbitrary<Partial<ListedTransaction>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.record({ amountUsd }),
  fc.record({ names }),
  fc.record({ references: fc.uniqueArray(fc.constantFrom('x', 'z'), { maxLength: 2 }) }),
  fc.record({
    references: fc.constantFrom('x', 'z').map((one) => [one]),
    namedCallId: fc.constantFrom('call 0', 'call 1', 'another'),
  }),
  fc.record({ type: fc.constantFrom('Airtime', 'transfer', 'credit', 'payment', 'odd', null) }),
  fc.constantFrom('unpaid', 'failed', 'pending').map(worded),
  fc.record({ issuedAt: fc.constant(null) }),
);
const world = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 5 }),
  /** Batches are copies of calls, with some changes and without some items. */
  batches: fc.array(
    fc.record({
      of: fc.nat(4),
      after: fc.constantFrom(0, 1, 90, 250),
      changes: fc.array(change),
      from: fc.nat(1),
    }),
    { maxLength: 6 },
  ),
});
const TYPES: Record<string, string> = { 'POST /account/transfer': 'transfer', 'POST /send': 'credit' };

type World = typeof world extends fc.Arbitrary<infer Type> ? Type : never;

function make(world: World): { calls: SentCall[]; seen: ListedTransaction[] } {
  const calls = world.calls.map(({ operation, items, second, seconds }, place) => ({
    id: `call ${place}`,
    operation,
    items: items.map((one, position) => ({ ...one, position })),
    sentFrom: at(second),
    sentUntil: at(second + seconds),
    isRejected: false,
  }));
  const seen = world.batches.flatMap(({ of, after, changes, from }, batch) => {
    const { operation, items, second } = world.calls[of % calls.length] as World['calls'][number];
    return items.slice(items.length > 1 ? from : 0).map((one, place): ListedTransaction => {
      const { names, amountUsd, reference } = one;
      const type = TYPES[operation] ?? (operation.includes('collect') ? 'payment' : 'airtime');
      const name = {
        readId: 'read',
        ordinal: batch * 10 + place,
        upstreamRef: `${batch}/${place}`,
        upstreamId: null,
      };
      const listed = {
        names,
        amountUsd,
        references: reference === null ? [] : [reference],
        namedCallId: null,
      };
      const issuedAt = at(second + after);
      return {
        ...name,
        batchRef: `batch ${batch}`,
        issuedAt,
        type,
        ...worded('paid'),
        ...listed,
        ...changes[place],
      };
    });
  });
  return { calls, seen };
}

const ordinalsOf = (verdict: Verdict | undefined) =>
  verdict?.evidence.transactions.map(({ ordinal }) => ordinal).sort();

describe('the indexes of the resolver', () => {
  it('find the same as an exhaustive comparison', () => {
    fc.assert(
      fc.property(world, fc.integer({ min: 0, max: 900 }), (drawn, looked) => {
        const { calls, seen } = make(drawn);
        const kinds = ['airtime', 'transfer', 'link', 'collection'];
        const listing = {
          readId: 'read',
          requestedAt: at(looked),
          missing: 0,
          oldest: at(-1),
          freshUntil: new Map(kinds.map((kind) => [kind, at(looked)])),
          unclaimed: atOnce(Batches.of(seen)),
        };
        const competing = atOnce(CompetingCalls.of(calls, RULES));
        for (const one of calls) {
          const verdict = atOnce(judge(one, listing, competing, RULES));
          const { ours, others, unexplained, sole } = compareWithAll(one, seen, calls, RULES);
          // Competing calls are read only for related calls.
          if (unexplained.length > 0) expect(listing.unclaimed.isRelatedTo(one)).toBe(true);
          const isQuiet = at(looked).getTime() >= quietUntil(one, RULES);
          const isWhole = sole?.length === one.items.length;
          const isFinal = isQuiet || !sole?.some(({ meaning }) => meaning === 'failed');
          if (isWhole ? !isFinal : !isQuiet) expect(verdict).toBeUndefined();
          else if (isWhole || (sole && unexplained.every((batch) => batch === sole))) {
            expect(verdict?.verdict).toBe('confirmed');
            expect(ordinalsOf(verdict)).toEqual(sole?.map(({ ordinal }) => ordinal).sort());
            const paid = verdict?.entries?.filter(({ entry }) => entry !== 'not_executed');
            expect([paid?.length, verdict?.entries?.length]).toEqual([sole?.length, one.items.length]);
          } else if (ours.length === 0 && unexplained.length === 0)
            expect(verdict?.verdict).toBe('not_executed');
          else {
            expect(verdict?.verdict).toBe('ambiguous');
            const all = [...new Set([...ours, ...unexplained])].flat();
            expect(ordinalsOf(verdict)).toEqual(all.map(({ ordinal }) => ordinal).sort());
            expect(verdict?.evidence.calls.sort()).toEqual(others.map(({ id }) => id));
            expect(verdict?.reason.includes('another call of ours')).toBe(others.length > 0);
          }
        }
      }),
      { numRuns: runs(2_000) },
    );
  });
});

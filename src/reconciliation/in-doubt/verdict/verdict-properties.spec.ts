import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { atOnce } from '../../../../test/support/examples/at-once';
import { runs } from '../../../../test/support/examples/runs';
import { at, RULES, listedBatch, sentCall } from '../../../../test/support/reconciliation/generated-doubts';
import { SentCall, Verdict, ItemInDoubt } from '../calls-in-doubt';
import { Batches, Listing } from './batches';
import { CompetingCalls } from './competing-calls';
import { judge } from './verdict';

/** Outcome of a call at the upstream: number of executions, and delay after the sending. */
interface Fate {
  known: 'in doubt' | 'succeeded' | 'rejected';
  times: 0 | 1 | 2;
  /** At most the quiet period after the proxy stopped waiting. */
  afterSeconds: number;
  /** Whether the first of several items failed without a trace. */
  skipsFirst: boolean;
}

interface World {
  calls: (Fate & { items: [recipient: number, cents: number][]; sentSecond: number })[];
  /** Payments of others who have the upstream's key. */
  strangers: { items: [recipient: number, cents: number][]; second: number }[];
  lookedSecond: number;
  /** Age of the upstream's listing. */
  lagSeconds: number;
}

/** Few recipients and amounts, which make calls similar. */
const items = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 2 })), { minLength: 1, maxLength: 3 });
const call = fc.record({
  items,
  sentSecond: fc.nat(200),
  known: fc.constantFrom<Fate['known']>('in doubt', 'in doubt', 'in doubt', 'succeeded', 'rejected'),
  times: fc.constantFrom<Fate['times']>(0, 0, 1, 1, 2),
  afterSeconds: fc.constantFrom(0, 1, 5, 60, 100),
  skipsFirst: fc.constantFrom(false, false, true),
});
const worlds: fc.Arbitrary<World> = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  strangers: fc.array(fc.record({ items, second: fc.nat(300) }), { maxLength: 1 }),
  lookedSecond: fc.nat(500),
  lagSeconds: fc.constantFrom(0, 0, 0, 1, 50, 200),
});

const competingOf = (calls: SentCall[]) => atOnce(CompetingCalls.of(calls, RULES));
const verdictOn = (one: SentCall, listing: Listing, competing: CompetingCalls) =>
  atOnce(judge(one, listing, competing, RULES));

/** The items that the upstream carries out: all of a call, or all but the first. */
function carriedOut({ items: all, skipsFirst }: World['calls'][number]): [number, number][] {
  return skipsFirst && all.length > 1 ? all.slice(1) : all;
}

/** Returns the truth, and the view of the resolver. */
function live({ calls, strangers, lookedSecond, lagSeconds }: World) {
  const asOf = lookedSecond - lagSeconds;
  const shown: { call: number; second: number; items: [number, number][]; first: boolean }[] = [];
  const sent = calls.map(({ items, sentSecond }, place) => sentCall(place, items, sentSecond));
  for (const [place, one] of calls.entries()) {
    if (one.known === 'succeeded' && one.times === 0) one.times = 1;
    for (let time = 0; time < one.times; time += 1) {
      shown.push({
        call: place,
        second: one.sentSecond + one.afterSeconds,
        items: carriedOut(one),
        first: time === 0,
      });
    }
  }
  for (const { items, second } of strangers) shown.push({ call: -1, second, items, first: false });
  const listed = shown.filter(({ second }) => second <= asOf);
  const unclaimed = listed.filter(
    ({ call: place, first }) => !(first && calls[place]?.known === 'succeeded'),
  );
  const listing = {
    readId: 'read',
    requestedAt: at(lookedSecond),
    missing: 0,
    oldest: at(-1),
    unclaimed: atOnce(Batches.of(unclaimed.flatMap((batch) => listedBatch(batch, listed.indexOf(batch))))),
    freshUntil: new Map([['airtime' as const, at(asOf)]]), // A call of ours is always sent just then.
  };
  const competing = competingOf(sent.filter(({ sentFrom }) => sentFrom <= at(lookedSecond)));
  const judged = sent.flatMap((one, place) => {
    const { known, times = 0 } = calls[place] as World['calls'][number];
    if (known !== 'in doubt' || one.sentFrom > at(lookedSecond)) return [];
    const done = times > 0 ? carriedOut(calls[place] as World['calls'][number]) : [];
    return [{ one, times, done, verdict: verdictOn(one, listing, competing) }];
  });
  return { judged, listing, sent };
}

const RUNS = { numRuns: runs(1_500) };

describe('a verdict', () => {
  it('never settles a payout as not executed that was or will be carried out', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { one, done, verdict } of live(world).judged) {
          for (const [content, count] of counted(
            entriesOf(one, verdict, (entry) => entry === 'not_executed'),
          )) {
            // Equal payouts of one call are indistinguishable.
            const all = counted(one.items.map(toPair)).get(content) ?? 0;
            expect(count + (counted(done).get(content) ?? 0)).toBeLessThanOrEqual(all);
          }
        }
      }),
      RUNS,
    );
  });

  it('never settles an unpaid payout as paid, unless a stranger made the same payment at that time', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const theirs = world.strangers.flatMap((stranger) => stranger.items);
        for (const { one, times, done, verdict } of live(world).judged) {
          if (times > 1) continue;
          for (const [content, count] of counted(
            entriesOf(one, verdict, (entry) => entry !== 'not_executed'),
          )) {
            expect(count).toBeLessThanOrEqual(counted([...done, ...theirs]).get(content) ?? 0);
          }
        }
      }),
      RUNS,
    );
  });

  it('is correct after the quiet period if nothing resembles the call', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const alone = world.calls
          .slice(0, 1)
          .map((one) => ({ ...one, known: 'in doubt' as const, skipsFirst: false }));
        const strangers = world.strangers.map((one) => ({ ...one, items: [[7, 1] as [number, number]] }));
        const { judged } = live({ calls: alone, strangers, lookedSecond: 1_000, lagSeconds: 0 });
        const [{ times = 0, verdict } = {}] = judged;
        expect(verdict?.verdict).toBe((['not_executed', 'confirmed', 'ambiguous'] as const)[times]);
      }),
      RUNS,
    );
  });

  it('is missing before the quiet period ends, except for listed payouts', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { one, verdict } of live(world).judged) {
          const isEarly = one.sentUntil.getTime() + RULES.quietMs > at(world.lookedSecond).getTime();
          if (isEarly) expect([undefined, 'confirmed']).toContain(verdict?.verdict);
        }
      }),
      RUNS,
    );
  });

  it('is never not_executed if the listing lacks known transactions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { listing, sent } = live(world);
        for (const one of sent)
          expect(verdictOn(one, { ...listing, missing: 1 }, competingOf(sent))?.verdict).not.toBe(
            'not_executed',
          );
      }),
      RUNS,
    );
  });
});

describe('freshness', () => {
  it('is never proved by another operation', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { listing, sent } = live(world);
        const others = {
          ...listing,
          freshUntil: new Map([['mobile money' as const, at(world.lookedSecond)]]),
        };
        for (const one of sent)
          expect(verdictOn(one, others, competingOf(sent))?.verdict).not.toBe('not_executed');
      }),
      RUNS,
    );
  });
});

function toPair({ payee, amountUsd }: ItemInDoubt): [number, number] {
  return [Number(payee[0]?.slice(-1)), new Decimal(amountUsd ?? 0).times(100).toNumber()];
}

/** Returns the payouts that a verdict settles by such an entry. */
function entriesOf(
  one: SentCall,
  verdict: Verdict | undefined,
  which: (entry: string) => boolean,
): [number, number][] {
  const entries = verdict?.entries ?? [];
  return entries.flatMap(({ position, entry }) =>
    which(entry) ? [toPair(one.items[position] as ItemInDoubt)] : [],
  );
}

/** Counts equal payments. */
function counted(pairs: [number, number][]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pair of pairs) counts.set(pair.join(), (counts.get(pair.join()) ?? 0) + 1);
  return counts;
}

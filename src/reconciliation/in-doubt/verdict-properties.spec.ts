import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { atOnce } from '../../../test/support/at-once';
import { at, RULES, toSeen, toSent } from '../../../test/support/made-up-doubts';
import { runs } from '../../../test/support/runs';
import { SentCall, Wanted } from './calls-in-doubt';
import { Competing } from './competing';
import { Batches, Listing } from './batches';
import { judge } from './verdict';

/** What the upstream did with a call: how often it carried it out, and how long after it was sent. */
interface Fate {
  known: 'in doubt' | 'succeeded' | 'rejected';
  times: 0 | 1 | 2;
  /** At most the quiet period after it was given up. */
  afterSeconds: number;
}

interface World {
  calls: (Fate & { items: [recipient: number, cents: number][]; sentSecond: number })[];
  /** Who has the upstream's key besides us. */
  strangers: { items: [recipient: number, cents: number][]; second: number }[];
  lookedSecond: number;
  /** How old the listing is that the upstream gives. */
  lagSeconds: number;
}

/** Recipients and amounts of which there are so few that calls resemble each other. */
const items = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 2 })), { minLength: 1, maxLength: 3 });
const call = fc.record({
  items,
  sentSecond: fc.nat(200),
  known: fc.constantFrom<Fate['known']>('in doubt', 'in doubt', 'in doubt', 'succeeded', 'rejected'),
  times: fc.constantFrom<Fate['times']>(0, 0, 1, 1, 2),
  afterSeconds: fc.constantFrom(0, 1, 5, 60, 100),
});
const worlds: fc.Arbitrary<World> = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  strangers: fc.array(fc.record({ items, second: fc.nat(300) }), { maxLength: 1 }),
  lookedSecond: fc.nat(500),
  lagSeconds: fc.constantFrom(0, 0, 0, 1, 50, 200),
});

const competingOf = (calls: SentCall[]) => atOnce(Competing.of(calls, RULES));
const verdictOn = (one: SentCall, listing: Listing, competing: Competing) =>
  atOnce(judge(one, listing, competing, RULES))?.verdict;

/** The world as it is, and what the resolver is told of it. */
function live({ calls, strangers, lookedSecond, lagSeconds }: World) {
  const asOf = lookedSecond - lagSeconds;
  const shown: { call: number; second: number; items: [number, number][]; first: boolean }[] = [];
  const sent = calls.map(({ items, sentSecond }, place) => toSent(place, items, sentSecond));
  for (const [place, one] of calls.entries()) {
    if (one.known === 'succeeded' && one.times === 0) one.times = 1;
    for (let time = 0; time < one.times; time += 1) {
      shown.push({ call: place, second: one.sentSecond + one.afterSeconds, items: one.items, first: time === 0 });
    }
  }
  for (const { items, second } of strangers) shown.push({ call: -1, second, items, first: false });
  const listed = shown.filter(({ second }) => second <= asOf);
  const unclaimed = listed.filter(({ call: place, first }) => !(first && calls[place]?.known === 'succeeded'));
  const listing = {
    readId: 'read',
    askedAt: at(lookedSecond),
    missing: 0,
    oldest: at(-1),
    unclaimed: atOnce(Batches.of(unclaimed.flatMap((batch) => toSeen(batch, listed.indexOf(batch))))),
    freshUntil: new Map([['airtime' as const, at(asOf)]]), // there is always something of ours that was sent just then
  };
  const competing = competingOf(sent.filter(({ sentFrom }) => sentFrom <= at(lookedSecond)));
  const judged = sent.flatMap((one, place) => {
    const { known, times = 0 } = calls[place] ?? {};
    if (known !== 'in doubt' || one.sentFrom > at(lookedSecond)) return [];
    return [{ one, times, verdict: verdictOn(one, listing, competing) }];
  });
  return { judged, listing, sent };
}

const RUNS = { numRuns: runs(1_500) };
const key = (list: [number, number][]) => JSON.stringify([...list].sort());

describe('a verdict', () => {
  it('is never not_executed for a call that was or will be carried out', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { times, verdict } of live(world).judged) if (verdict === 'not_executed') expect(times).toBe(0);
      }),
      RUNS,
    );
  });

  it('is never confirmed for a call that was not carried out, unless a stranger made the same payment at the same time', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const twin = ({ items: list }: SentCall) =>
          world.strangers.some((stranger) => key(stranger.items) === key(list.map(toPair)));
        for (const { one, times, verdict } of live(world).judged) {
          if (verdict === 'confirmed' && times === 0) expect(twin(one)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('is the truth once the quiet period is over, if nothing resembles the call', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const alone = world.calls.slice(0, 1).map((one) => ({ ...one, known: 'in doubt' as const }));
        const strangers = world.strangers.map((one) => ({ ...one, items: [[7, 1] as [number, number]] }));
        const { judged } = live({ calls: alone, strangers, lookedSecond: 1_000, lagSeconds: 0 });
        const [{ times = 0, verdict } = {}] = judged;
        expect(verdict).toBe((['not_executed', 'confirmed', 'ambiguous'] as const)[times]);
      }),
      RUNS,
    );
  });

  it('is missing before the quiet period is over, except for what is already listed', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { one, verdict } of live(world).judged) {
          const isEarly = one.sentUntil.getTime() + RULES.quietMs > at(world.lookedSecond).getTime();
          if (isEarly) expect([undefined, 'confirmed']).toContain(verdict);
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
          expect(verdictOn(one, { ...listing, missing: 1 }, competingOf(sent))).not.toBe('not_executed');
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
        const others = { ...listing, freshUntil: new Map([['mobile money' as const, at(world.lookedSecond)]]) };
        for (const one of sent) expect(verdictOn(one, others, competingOf(sent))).not.toBe('not_executed');
      }),
      RUNS,
    );
  });
});

function toPair({ payee, amountUsd }: Wanted): [number, number] {
  return [Number(payee[0]?.slice(-1)), new Decimal(amountUsd ?? 0).times(100).toNumber()];
}

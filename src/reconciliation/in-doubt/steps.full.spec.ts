import { at, RULES, listedBatch, sentCall } from '../../../test/support/reconciliation/generated-doubts';
import { ListedTransaction, SentCall } from './calls-in-doubt';
import { Batches, Listing } from './verdict/batches';
import { CompetingCalls } from './verdict/competing-calls';
import { judgeInTurn } from './verdict/poll-round';
import { Effort, STRETCH } from './work';

interface Crowd {
  calls: SentCall[];
  seen: ListedTransaction[];
  doubts: SentCall[];
}

const secondOf = (place: number) => place / 100;
const range = (size: number) => Array.from({ length: size }, (_, place) => place);

/** Similar payments to one receiver, in several ways. The first ones are in doubt. */
const CROWDS: Record<string, (size: number, doubts: number) => Crowd> = {
  'of one amount': (size, doubts) => {
    const calls = range(size).map((place) => sentCall(place, [[1, 1]], secondOf(place)));
    const seen = calls.flatMap((_, place) =>
      listedBatch({ second: secondOf(place), items: [[1, 1]] }, place),
    );
    return { calls, seen, doubts: calls.slice(0, doubts) };
  },
  'of one amount, with references': (size, doubts) => {
    const calls = range(size).map((place) => referring(sentCall(place, [[1, 1]], secondOf(place)), place));
    const seen = calls.flatMap((_, place) =>
      listedBatch({ second: secondOf(place), items: [[1, 1]] }, place).map((one) => ({
        ...one,
        references: [`${place}`],
      })),
    );
    return { calls, seen, doubts: calls.slice(0, doubts) };
  },
  'of other amounts': (size, doubts) => {
    const calls = range(size).map((place) => sentCall(place, [[1, 1 + place]], secondOf(place)));
    const paid = range(size).slice(doubts);
    const seen = paid.flatMap((place) =>
      listedBatch({ second: secondOf(place), items: [[1, 1 + place]] }, place),
    );
    return { calls, seen, doubts: calls.slice(0, doubts) };
  },
  'in batches with another receiver': (size, doubts) => {
    const items = (place: number): [number, number][] => [[1, 1], [1_000 + place, 1]]; // prettier-ignore
    const calls = range(size / 2).map((place) => sentCall(place, items(place), secondOf(place)));
    const seen = calls.flatMap((_, place) =>
      listedBatch({ second: secondOf(place), items: items(place) }, place),
    );
    return { calls, seen, doubts: calls.slice(0, doubts) };
  },
};

describe.each(Object.entries(CROWDS))('calls in doubt among payments to one receiver %s', (_, crowdOf) => {
  it.each([
    [1_000, 200],
    [10_000, 500],
    [50_000, 1_000],
  ])('take a linear number of steps: %i payments, %i in doubt', async (size, number) => {
    const { calls, seen, doubts } = crowdOf(size, number);
    const effort = new Effort();
    const listing: Listing = {
      readId: 'read',
      requestedAt: at(5_000),
      missing: 0,
      oldest: at(-1),
      freshUntil: new Map([['airtime', at(4_999)]]),
      unclaimed: await effort.all(Batches.of(seen)),
    };
    const competing = await effort.all(CompetingCalls.of(calls, RULES));
    const { found, left } = await judgeInTurn(doubts, listing, competing, RULES, effort);
    expect([found.length, left.length]).toEqual([number, 0]);
    expect(effort.done).toBeLessThan(10 * size + 700 * number);
    expect(effort.longestStretch).toBeLessThan(2 * STRETCH);
  });
});

function referring(call: SentCall, place: number): SentCall {
  return { ...call, items: call.items.map((item) => ({ ...item, reference: `${place}` })) };
}

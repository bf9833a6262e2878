import { at, RULES, listedBatch, sentCall } from '../../../../test/support/reconciliation/generated-doubts';
import { SentCall } from '../calls-in-doubt';
import { BackOff } from '../rounds/back-off';
import { Effort, STRETCH } from '../work';
import { Batches, Listing } from './batches';
import { CompetingCalls } from './competing-calls';
import { judgeInTurn } from './poll-round';

const EQUAL = 20_000;
const DOUBTS = 202;

/** One recipient gets equal payments again and again: all calls and all transactions look alike. */
describe('calls in doubt among 20,000 equal payments', () => {
  const cents = 1;
  const secondOf = (place: number) => place / 100;
  const others = Array.from({ length: EQUAL }, (_, place) => sentCall(place, [[1, cents]], secondOf(place)));
  const seen = others.flatMap((_, place) =>
    listedBatch({ second: secondOf(place) + 1, items: [[1, cents]] }, place),
  );
  /** Two more calls in doubt: the recipient of one was paid, the recipient of the other was not. */
  const paid = sentCall(EQUAL + 1, [[2, 5]], 100);
  const unpaid = sentCall(EQUAL + 2, [[3, 5]], 100);
  const seenPaid = listedBatch({ second: 101, items: [[2, 5]] }, EQUAL + 1);
  const every = Math.floor(EQUAL / DOUBTS);
  const ofCrowd = others.filter((_, place) => place % every === 0).slice(0, DOUBTS);

  const readInTurns = async (effort: Effort) => {
    const listing: Listing = {
      readId: 'read',
      requestedAt: at(2_000),
      missing: 0,
      oldest: at(-1),
      freshUntil: new Map([['airtime' as const, at(1_999)]]),
      unclaimed: await effort.all(Batches.of([...seen, ...seenPaid])),
    };
    return { listing, competing: await effort.all(CompetingCalls.of([...others, paid, unpaid], RULES)) };
  };

  it('are all judged correctly in one round', async () => {
    const effort = new Effort();
    const { listing, competing } = await readInTurns(effort);
    const read = effort.done;
    const { found, left } = await judgeInTurn([...ofCrowd, paid, unpaid], listing, competing, RULES, effort);
    expect(left).toEqual([]);
    const crowd = found.slice(0, DOUBTS);
    expect(new Set(crowd.map(({ verdict }) => verdict.verdict))).toEqual(new Set(['ambiguous']));
    for (const { call, verdict } of crowd) {
      expect([verdict.evidence.transactions.length, verdict.evidence.calls.length]).toEqual([100, 100]);
      expect(verdict.evidence.calls).not.toContain(call.id);
    }
    expect(found.slice(DOUBTS).map(({ verdict }) => verdict.verdict)).toEqual(['confirmed', 'not_executed']);
    // Comparing all pairs would take 202 times 20,000 times 20,000 comparisons.
    expect(read).toBeLessThan(5 * EQUAL);
    expect(effort.done - read).toBeLessThan(DOUBTS * 2_000);
    expect(effort.longestStretch).toBeLessThan(2 * STRETCH);
  });

  it('are judged in turn over several rounds without blocking the event loop', async () => {
    // Each requested another amount than its receiver got. Only the complete listing explains that.
    const doubts = Array.from({ length: 7 }, (_, place) =>
      sentCall(EQUAL + 10 + place, [[1, 9]], 100 + place),
    );
    const byId = new Map(doubts.map((call) => [call.id, call]));
    const { listing, competing } = await readInTurns(new Effort());
    const verdicts = new Map<string, string>();
    const backOff = new BackOff(1_000);
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 0);
    let rounds = 0;
    for (; verdicts.size < doubts.length && rounds < doubts.length; rounds += 1) {
      const effort = new Effort(undefined, 1.5 * EQUAL);
      const due = backOff.inTurn([...byId.keys()]).map((id) => byId.get(id) as SentCall);
      const { found, left } = await judgeInTurn(due, listing, competing, RULES, effort);
      expect(effort.done).toBeLessThan(6 * EQUAL); // One round's bound, and the work in progress.
      expect(effort.longestStretch).toBeLessThan(2 * STRETCH);
      for (const { call, verdict } of found) verdicts.set(call.id, verdict.verdict);
      const looked = due.filter((call) => !left.includes(call));
      for (const { id, sentFrom } of looked) backOff.polled(id, sentFrom, 1 + rounds, 0);
    }
    clearInterval(ticking);
    expect([...verdicts.values()]).toEqual(doubts.map(() => 'not_executed'));
    expect([rounds > 1, rounds < doubts.length]).toEqual([true, true]);
    expect(turns).toBeGreaterThan(rounds);
  });
});

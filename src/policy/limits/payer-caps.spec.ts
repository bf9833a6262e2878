import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { budget, OFF, request, state } from '../../../test/support/payments/admission-requests';
import { decide } from '../decide';
import { PayerCaps } from './caps';

const cents = (most: number) =>
  fc.integer({ min: 0, max: most }).map((count) => new Decimal(count).dividedBy(100));
const maybe = (value: fc.Arbitrary<Decimal>) => fc.option(value, { nil: null });

const PAYERS = ['ada', 'bob', 'key'] as const;

const caps = fc.record({
  daily: maybe(cents(300)),
  monthly: maybe(cents(300)),
  total: maybe(cents(300)),
  spent: cents(100),
});
const world = fc.record({
  /** Whether Ada and Bob are one human. */
  areOne: fc.boolean(),
  payers: fc.tuple(caps, caps, caps),
  calls: fc.array(
    fc.record({
      usd: cents(120),
      feeUsd: maybe(cents(5)),
      payers: fc.uniqueArray(fc.constantFrom(...PAYERS)),
      isHeld: fc.boolean(),
    }),
    { maxLength: 15 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function payersOf({ payers, areOne }: Pick<World, 'payers' | 'areOne'>): Map<string, PayerCaps> {
  const human: PayerCaps[] = [];
  return new Map(
    payers.map(({ daily, monthly, total, spent }, place) => {
      const isHuman = areOne && place < 2;
      const spentUsd = isHuman ? payers[0].spent.plus(payers[1].spent) : spent;
      const alike = isHuman ? human : [];
      const one: PayerCaps = {
        kind: place === 2 ? 'ephemeral_key' : 'person',
        dailyCapUsd: daily,
        monthlyCapUsd: monthly,
        totalCapUsd: total,
        spentTodayUsd: spentUsd,
        spentThisMonthUsd: spentUsd,
        spentUsd,
        alike,
      };
      alike.push(one);
      return [PAYERS[place] ?? '', one];
    }),
  );
}

describe('caps of persons and ephemeral keys', () => {
  it('are never exceeded, and refuse no amount that fits', () => {
    fc.assert(
      fc.property(world, (made) => {
        const requests = made.calls.map(({ isHeld, ...call }, place) =>
          request(`call-${place}`, { ...call, ...(isHeld && { heldFor: 'over_threshold' }) }),
        );
        const rulings = decide(
          requests,
          state({ guards: OFF, budgets: new Map([['shop', budget()]]), payers: payersOf(made) }),
        );
        const left = new Map(
          [...payersOf(made)].map(([name, one]) => {
            const limits = [one.dailyCapUsd, one.monthlyCapUsd, one.totalCapUsd].filter(
              (cap) => cap !== null,
            );
            return [name, limits.length === 0 ? null : Decimal.min(...limits).minus(one.spentUsd)];
          }),
        );
        for (const [place, call] of requests.entries()) {
          const usd = (call.usd ?? new Decimal(0)).plus(call.feeUsd ?? 0);
          const fits = call.payers.every((payer) => (left.get(payer) ?? usd).gte(usd));
          expect([place, rulings[place]?.kind]).toEqual([
            place,
            !fits ? 'over_cap' : call.heldFor ? 'held' : 'admitted',
          ]);
          if (rulings[place]?.kind !== 'admitted') continue;
          const counted = call.payers.flatMap((payer) =>
            made.areOne && payer !== 'key' ? ['ada', 'bob'] : [payer],
          );
          for (const payer of counted) left.set(payer, left.get(payer)?.minus(usd) ?? null);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('name their owner', () => {
    const made = { daily: new Decimal(1), monthly: null, total: null, spent: new Decimal(1) };
    const none = { daily: null, monthly: null, total: new Decimal('0.5'), spent: new Decimal(0) };
    const payers = payersOf({ payers: [made, none, none], areOne: false });
    const [ofPerson, ofKey] = decide(
      [request('a', { payers: ['ada'] }), request('b', { payers: ['key'] })],
      state({ guards: OFF, payers }),
    );
    expect([ofPerson, ofKey]).toMatchObject([
      { kind: 'over_cap', of: 'person', period: 'daily', leftUsd: new Decimal(0) },
      { kind: 'over_cap', of: 'ephemeral_key', period: 'total', leftUsd: new Decimal('0.5') },
    ]);
  });
});

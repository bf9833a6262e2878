import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_HISTORY } from '../../test/support/databases/no-history';
import { NO_ITEM } from '../../test/support/payments/no-item';
import { Item } from '../operations/items/item';
import { AdmissionRequest, Budget, Ruling, State } from './admission';
import { decide } from './decide';
import { Register } from './limits/beneficiaries';
import { reservationOf } from './limits/caps';
import { RecipientDays } from './limits/recipient-days';

/** Small worlds, to hit keys, contents and caps often. */
const CLIENTS = ['shop', 'till', 'kiosk'];
const STOPS = [
  { id: 'stop-1', clientId: 'kiosk', operation: null, reason: 'drill' },
  { id: 'stop-2', clientId: null, operation: 'POST /send', reason: 'drill' },
];
const paymentTo = (phone: string): Item => ({
  ...NO_ITEM,
  recipientField: 'phone',
  phone,
  amountUsd: new Decimal(1),
});
const amount = fc.integer({ min: 1, max: 3_000_000 }).map((micros) => new Decimal(micros).div(1_000_000));
const cap = fc.option(
  fc.integer({ min: 0, max: 9_000_000 }).map((micros) => new Decimal(micros).div(1_000_000)),
);
const requests = fc.array(
  fc.record({
    clientId: fc.constantFrom(...CLIENTS),
    operation: fc.constantFrom('POST /payouts/airtime', 'POST /send'),
    idempotencyKey: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
    content: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    overOwnLimit: fc.integer({ max: 7, min: 0 }).map((drawn) => drawn === 0),
    sendableInSeconds: fc.option(fc.constant(5), { freq: 1 }),
    usd: fc.option(amount, { freq: 8 }),
    feeUsd: fc.option(amount, { freq: 2 }),
    heldFor: fc.option(fc.constant('over_threshold' as const), { freq: 1 }),
    items: fc.subarray(['x', 'y', 'z'].map(paymentTo)),
    allowDuplicateOf: fc.option(fc.constantFrom('open', 'paid', 'unheard', 'settled', 'call-0', 'call-1')),
    /** The state of the database: a claim, the same content, the same from another client. */
    known: fc.record({
      claim: fc.option(fc.boolean(), { freq: 1 }),
      same: fc.subarray([
        { callId: 'paid', state: 'succeeded' as const, paidSecondsAgo: 60, undelivered: false },
        { callId: 'unheard', state: 'succeeded' as const, paidSecondsAgo: 60, undelivered: true },
        { callId: 'settled', state: 'confirmed' as const, paidSecondsAgo: 60, undelivered: false },
        { callId: 'open', state: 'unknown' as const, paidSecondsAgo: null, undelivered: false },
      ]),
      elsewhere: fc.boolean(),
    }),
  }),
  { maxLength: 25 },
);
const world = fc.record({
  asked: requests,
  budgets: fc.array(fc.record({ daily: cap, monthly: cap, today: amount, before: amount }), {
    minLength: CLIENTS.length,
    maxLength: CLIENTS.length,
  }),
  stops: fc.array(fc.constantFrom(...STOPS), { maxLength: 1 }),
  guards: fc.record({
    duplicates: fc.boolean(),
    windowSeconds: fc.constantFrom(0, 30, 90),
    acrossClients: fc.boolean(),
  }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function build({ asked, budgets, stops, guards }: World) {
  const calls = asked.map(({ known: _known, ...more }, place) => ({
    id: `call-${place}`,
    account: 'main',
    endUserId: null,
    payers: [],
    recipients: null,
    payments: null,
    ...more,
  }));
  const known = asked.map((one, place) => ({ id: `call-${place}`, key: one.idempotencyKey, ...one.known }));
  const toBudget = ({ daily, monthly, today, before }: World['budgets'][number]) => ({
    ...NO_HISTORY,
    dailyCapUsd: daily,
    monthlyCapUsd: monthly,
    spentTodayUsd: today,
    spentThisMonthUsd: today.plus(before),
  });
  const at: State = {
    claims: new Map(
      known
        .filter(({ claim, key }) => claim !== null && key !== null)
        .map(({ id, claim }) => [id, { callId: `earlier-${id}`, sameContent: claim === true }]),
    ),
    sameContent: new Map(known.map(({ id, same }) => [id, same])),
    seenAcrossClients: new Set(known.filter(({ elsewhere }) => elsewhere).map(({ id }) => id)),
    unexplained: new Map(),
    register: new Register(),
    recipients: new RecipientDays(),
    stops,
    payers: new Map(),
    guards,
    budgets: new Map(budgets.map((one, place) => [CLIENTS[place] ?? '', toBudget(one)])),
  };
  return { calls, at };
}

/** Replays the decisions, each with those before it. */
function replay(
  made: World,
  look: (call: AdmissionRequest, ruling: Ruling, before: [AdmissionRequest, Ruling][], at: State) => void,
) {
  const { calls, at } = build(made);
  const rulings = decide(calls, build(made).at);
  expect(rulings).toHaveLength(calls.length);
  const pairs = calls.map((call, place): [AdmissionRequest, Ruling] => [call, rulings[place] as Ruling]);
  for (const [place, [call, ruling]] of pairs.entries()) look(call, ruling, pairs.slice(0, place), at);
}

const isOpen = ({ kind }: Ruling) => kind === 'admitted' || kind === 'held';

/** Returns the earlier spending and reservations of the client, and whether the amount still fits. */
function fits(clientId: string, more: Decimal, before: [AdmissionRequest, Ruling][], at: State): boolean {
  const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = at.budgets.get(clientId) as Budget;
  const batch = before
    .filter(([call, { kind }]) => call.clientId === clientId && kind === 'admitted')
    .reduce((sum, [call]) => sum.plus(reservationOf(call) ?? 0), more);
  const under = (spent: Decimal, cap: Decimal | null) => cap === null || spent.plus(batch).lte(cap);
  return under(spentTodayUsd, dailyCapUsd) && under(spentThisMonthUsd, monthlyCapUsd);
}

describe('decide, for any batch and any state,', () => {
  it('never admits over a cap, and never refuses an amount that fits', () => {
    fc.assert(
      fc.property(world, (made) =>
        replay(made, (call, ruling, before, at) => {
          const reserved = reservationOf(call);
          if (isOpen(ruling) && reserved) expect(fits(call.clientId, reserved, before, at)).toBe(true);
          if (ruling.kind === 'over_cap')
            expect(fits(call.clientId, reserved as Decimal, before, at)).toBe(false);
        }),
      ),
      { numRuns: 1_000 },
    );
  });

  it('opens at most one call per key, and none that is claimed, over its limit, stopped or suspected', () => {
    fc.assert(
      fc.property(world, (made) =>
        replay(made, (call, ruling, before, { claims, sameContent, stops, guards }) => {
          const same = (other: AdmissionRequest) =>
            other.clientId === call.clientId && other.operation === call.operation;
          const opened = before
            .filter(([other, decided]) => same(other) && isOpen(decided))
            .map(([other]) => other);
          const first =
            call.idempotencyKey && opened.find((other) => other.idempotencyKey === call.idempotencyKey);
          const isStopped = stops.some(
            (one) => one.clientId === call.clientId || one.operation === call.operation,
          );
          const inBatch = opened.findLast((other) => other.content === call.content);
          const known = sameContent.get(call.id) ?? [];
          const isInTheWay = known.some(
            ({ state, paidSecondsAgo: ago, undelivered }) =>
              ago === null ||
              state === 'confirmed' ||
              undelivered ||
              call.items.length > 1 ||
              (call.idempotencyKey === null && ago <= guards.windowSeconds),
          );
          const newest = inBatch?.id ?? known[0]?.callId;
          const isSuspected =
            guards.duplicates && (inBatch !== undefined || isInTheWay) && newest !== call.allowDuplicateOf;
          const mayOpen = !claims.has(call.id) && !first && !call.overOwnLimit && !isStopped && !isSuspected;
          expect(isOpen(ruling) || ['over_cap', 'circuit_open'].includes(ruling.kind)).toBe(mayOpen);
          if (call.sendableInSeconds !== null) expect(ruling.kind).not.toBe('admitted');
          if (ruling.kind === 'circuit_open')
            expect([call.sendableInSeconds, call.heldFor]).toEqual([5, null]);
          if (!claims.has(call.id) && first) {
            const kind = first.content === call.content ? 'repeated' : 'key_reused';
            expect(ruling).toEqual({ kind, firstCallId: first.id });
          }
        }),
      ),
      { numRuns: 1_000 },
    );
  });

  it('decides about a client as if it were alone, while the guard across clients is off', () => {
    fc.assert(
      fc.property(world, fc.constantFrom(...CLIENTS), (made, clientId) => {
        const alone = { ...made, guards: { ...made.guards, acrossClients: false } };
        const { calls, at } = build(alone);
        const together = decide(calls, at).filter((_, place) => calls[place]?.clientId === clientId);
        const own = calls.filter((call) => call.clientId === clientId);
        expect(decide(own, build(alone).at)).toEqual(together);
      }),
      { numRuns: 1_000 },
    );
  });
});

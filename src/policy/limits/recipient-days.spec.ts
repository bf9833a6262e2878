import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_HISTORY } from '../../../test/support/databases/no-history';
import { AdmissionRequest, Budget, Ruling, State } from '../admission';
import { decide } from '../decide';
import { Register } from './beneficiaries';
import { paymentKey, RecipientDays } from './recipient-days';

const RECIPIENTS = ['ada', 'bob', 'eve'];
const cents = (most: number) =>
  fc.integer({ min: 1, max: most }).map((amount) => new Decimal(amount).div(100));
const limit = (most: number) => fc.option(cents(most), { freq: 2 });
const payment = fc.record({
  recipient: fc.constantFrom(...RECIPIENTS),
  usd: fc.constantFrom('0.1', '0.2', '5').map((text) => new Decimal(text)),
});
const world = fc.record({
  limits: fc.record({
    maxRecipientDayUsd: limit(2_000),
    approvalOverRecipientDayUsd: limit(1_500),
    approvalOverDayUsd: limit(3_000),
    holdDuplicatesDays: fc.option(fc.constant(7), { freq: 1 }),
  }),
  dailyCapUsd: limit(4_000),
  spent: cents(500),
  held: cents(500),
  before: fc.record({ ada: cents(1_000), bob: cents(1_000) }),
  seen: fc.array(payment, { maxLength: 2 }),
  calls: fc.array(fc.array(payment, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function requestsOf({ calls }: World): AdmissionRequest[] {
  return calls.map((items, place) => ({
    id: `call-${place}`,
    clientId: 'shop',
    operation: 'POST /send',
    items: [],
    account: 'main',
    endUserId: null,
    payers: [],
    idempotencyKey: null,
    allowDuplicateOf: null,
    content: `${place}`,
    overOwnLimit: false,
    sendableInSeconds: null,
    usd: Decimal.sum(...items.map(({ usd }) => usd)),
    feeUsd: null,
    heldFor: null,
    recipients: null,
    payments: items.map((item, position) => ({ ...item, position })),
  }));
}

function stateOf({ limits, dailyCapUsd, spent, held, before, seen }: World): State {
  const budget: Budget = {
    ...NO_HISTORY,
    ...limits,
    dailyCapUsd,
    monthlyCapUsd: null,
    spentTodayUsd: spent,
    spentThisMonthUsd: spent,
    heldUsd: held,
  };
  return {
    claims: new Map(),
    sameContent: new Map(),
    seenAcrossClients: new Set(),
    unexplained: new Map(),
    register: new Register(),
    recipients: new RecipientDays(
      new Map(Object.entries(before)),
      new Map(seen.map((one) => [paymentKey(one), 'earlier'])),
    ),
    stops: [],
    payers: new Map(),
    budgets: new Map([['shop', budget]]),
    guards: { duplicates: false, windowSeconds: 0, acrossClients: false },
  };
}

/** The plain definition of the rules: sums over all earlier opened calls. */
function expected(made: World, request: AdmissionRequest, opened: [AdmissionRequest, Ruling][]): object {
  const { limits, dailyCapUsd, spent, held, before, seen } = made;
  const payments = request.payments ?? [];
  const earlier = opened.flatMap(([{ id, payments: all }]) => (all ?? []).map((one) => ({ id, ...one })));
  const sum = (amounts: Decimal[]) => Decimal.sum(0, ...amounts);
  const gets = (recipient: string) =>
    sum([...earlier, ...payments].filter((one) => one.recipient === recipient).map(({ usd }) => usd)).plus(
      (before as Record<string, Decimal>)[recipient] ?? 0,
    );
  const over = (most: Decimal | null) =>
    payments
      .filter(({ recipient }) => most !== null && gets(recipient).gt(most))
      .map(({ position }) => position);
  const usdOf = (kind: string) =>
    sum(opened.filter(([, ruling]) => ruling.kind === kind).map(([{ usd }]) => usd!));
  const cap = dailyCapUsd;
  if (cap && spent.plus(usdOf('admitted')).plus(request.usd!).gt(cap))
    return { kind: 'over_cap', period: 'daily' };
  const positions = over(limits.maxRecipientDayUsd);
  if (positions.length > 0)
    return { kind: 'over_recipient_cap', capUsd: limits.maxRecipientDayUsd, positions };
  if (over(limits.approvalOverRecipientDayUsd).length > 0)
    return { kind: 'held', heldFor: 'over_recipient_threshold' };
  const all = sum([spent, held, usdOf('admitted'), usdOf('held'), request.usd!]);
  const threshold = limits.approvalOverDayUsd;
  if (threshold && all.gt(threshold)) return { kind: 'held', heldFor: 'over_daily_threshold' };
  const known = [...seen.map((one) => ({ id: 'earlier', ...one })), ...earlier];
  const latest = payments
    .map((one) => known.findLast((other) => paymentKey(other) === paymentKey(one))?.id)
    .find((id) => id !== undefined);
  if (limits.holdDuplicatesDays === null || latest === undefined) return { kind: 'admitted' };
  return { kind: 'held', heldFor: 'seen_before', earlierCallId: latest };
}

describe('limits by earlier payments', () => {
  it('decide by the plain definition of each limit, for any batch and any earlier payments', () => {
    fc.assert(
      fc.property(world, (made) => {
        const requests = requestsOf(made);
        const rulings = decide(requests, stateOf(made));
        const opened: [AdmissionRequest, Ruling][] = [];
        for (const [place, request] of requests.entries()) {
          const ruling = rulings[place] as Ruling;
          expect(ruling).toMatchObject(expected(made, request, opened));
          if (ruling.kind === 'admitted' || ruling.kind === 'held') opened.push([request, ruling]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('decide about a batch as about single requests in order', () => {
    fc.assert(
      fc.property(world, (made) => {
        const one = stateOf(made);
        const alone = requestsOf(made).flatMap((request) => decide([request], one));
        expect(decide(requestsOf(made), stateOf(made))).toEqual(alone);
      }),
      { numRuns: 300 },
    );
  });
});

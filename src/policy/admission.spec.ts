import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { Asking, Budget, decide, State, Stop, Verdict } from './admission';

const usd = (text: string) => new Decimal(text);

function asking(id: string, more: Partial<Asking> = {}): Asking {
  return {
    ...{ id, clientId: 'shop', operation: 'POST /payouts/airtime', idempotencyKey: null, content: `{"of":"${id}"}` },
    ...{ barred: false, usd: usd('1'), heldFor: null, payments: [] },
    ...more,
  };
}

function budget(more: Partial<Budget> = {}): Budget {
  return { dailyCapUsd: null, monthlyCapUsd: null, spentTodayUsd: usd('0'), spentThisMonthUsd: usd('0'), ...more };
}

function state(more: Partial<State> = {}): State {
  return {
    ...{ claims: new Map(), duplicates: new Map(), seenAcrossClients: new Set(), stops: [] },
    ...{ budgets: new Map([['shop', budget()]]), guards: { duplicates: true, acrossClients: true } },
    ...more,
  };
}

const stop = (more: Partial<Stop> = {}): Stop => ({ clientId: null, operation: null, reason: 'drill', ...more });
const kinds = (askings: Asking[], at = state()) => decide(askings, at).map(({ kind }) => kind);

describe('decide', () => {
  it('admits one of a key; others with its content repeat it, the rest reuse it', () => {
    const key = { idempotencyKey: 'k', content: 'same' };
    expect(decide([asking('a', key), asking('b', key), asking('c', { ...key, content: 'other' })], state())).toEqual([
      { kind: 'admitted' },
      { kind: 'repeated', firstCallId: 'a' },
      { kind: 'keyReused', firstCallId: 'a' },
    ]);
  });

  it('takes the key of another client, or for another operation, for another key', () => {
    const key = { idempotencyKey: 'k', content: 'same' };
    const elsewhere = [asking('b', { ...key, clientId: 'till' }), asking('c', { ...key, operation: 'POST /send' })];
    expect(kinds([asking('a', key), ...elsewhere])).toEqual(['admitted', 'admitted', 'admitted']);
  });

  it.each([
    [{ barred: true }, state()],
    [{}, state({ stops: [stop()] })],
    [{}, state({ budgets: new Map([['shop', budget({ dailyCapUsd: usd('0') })]]) })],
  ])('repeats what was carried out before, whatever the rules are now: %#', (more, at) => {
    at.claims.set('b', { callId: 'a', sameContent: true });
    const again = asking('b', { idempotencyKey: 'k', ...more });
    expect(decide([again], at)).toEqual([{ kind: 'repeated', firstCallId: 'a' }]);
    at.claims.clear();
    expect(kinds([again], at)).not.toContain('admitted');
  });

  it('admits a call whose own commit was reported as failed, but was not', () => {
    const key = { idempotencyKey: 'k' };
    const full = new Map([['shop', budget({ dailyCapUsd: usd('1'), spentTodayUsd: usd('1') })]]);
    const claimed = state({ claims: new Map([['a', { callId: 'a', sameContent: true }]]), budgets: full });
    expect(kinds([asking('a', key)], claimed)).toEqual(['admitted']);
    expect(kinds([asking('a')], state({ duplicates: new Map([['a', 'a']]), budgets: full }))).toEqual(['admitted']);
  });

  it('suspects what comes again without a key, unless that guard is off', () => {
    const same = { content: 'same' };
    const twice = [asking('a', same), asking('b', same)];
    expect(decide(twice, state())[1]).toEqual({ kind: 'duplicate', firstCallId: 'a' });
    expect(decide([asking('b', same)], state({ duplicates: new Map([['b', 'a']]) }))).toEqual([
      { kind: 'duplicate', firstCallId: 'a' },
    ]);
    const off = { duplicates: false, acrossClients: false };
    expect(kinds(twice, state({ guards: off }))).toEqual(['admitted', 'admitted']);
    expect(kinds([asking('a', same), asking('b', { ...same, idempotencyKey: 'k' })])).toEqual(['admitted', 'admitted']);
    expect(kinds([asking('a', { ...same, idempotencyKey: 'k' }), asking('b', same)])).toEqual([
      'admitted',
      'duplicate',
    ]);
    expect(kinds([asking('a', same), asking('b', { ...same, clientId: 'till' })])).toEqual(['admitted', 'admitted']);
  });

  it.each<[Partial<Stop>, boolean]>([
    [{}, true],
    [{ clientId: 'shop' }, true],
    [{ clientId: 'till' }, false],
    [{ operation: 'POST /payouts/airtime' }, true],
    [{ operation: 'POST /send' }, false],
  ])('stops what a stop names: %j', (stopped, refused) => {
    const stops = [stop({ clientId: 'nobody' }), stop(stopped)];
    expect(kinds([asking('a')], state({ stops }))).toEqual([refused ? 'stopped' : 'admitted']);
  });

  it('pays up to a cap exactly, and says which cap, how much it is and what is left', () => {
    const capped = (more: Partial<Budget>) => state({ budgets: new Map([['shop', budget(more)]]) });
    const daily = { dailyCapUsd: usd('1'), spentTodayUsd: usd('0.9') };
    expect(kinds([asking('a', { usd: usd('0.1') })], capped(daily))).toEqual(['admitted']);
    expect(decide([asking('a', { usd: usd('0.100001') })], capped(daily))).toEqual([
      { kind: 'overCap', period: 'daily', capUsd: usd('1'), leftUsd: usd('0.1') },
    ]);
    const monthly = { monthlyCapUsd: usd('1'), spentThisMonthUsd: usd('2'), dailyCapUsd: usd('5') };
    expect(decide([asking('a')], capped(monthly))).toEqual([
      { kind: 'overCap', period: 'monthly', capUsd: usd('1'), leftUsd: usd('0') },
    ]);
    expect(kinds([asking('a', { usd: null })], capped(monthly))).toEqual(['admitted']);
  });

  it('holds what is over a threshold, or was paid by another client; it reserves nothing yet, and has its key', () => {
    const at = state({ budgets: new Map([['shop', budget({ dailyCapUsd: usd('1') })]]) });
    const held = asking('a', { heldFor: 'over_threshold', idempotencyKey: 'k', content: 'same' });
    const after = [asking('b', { idempotencyKey: 'k', content: 'same' }), asking('c')];
    expect(decide([held, ...after], at)).toEqual([
      { kind: 'held', heldFor: 'over_threshold' },
      { kind: 'repeated', firstCallId: 'a' },
      { kind: 'admitted' },
    ]);
    const seen = [asking('a', { payments: ['x 1', 'y 1'] }), asking('b', { clientId: 'till', payments: ['y 1'] })];
    expect(decide(seen, state())[1]).toEqual({ kind: 'held', heldFor: 'seen_across_clients' });
    expect(kinds([asking('a')], state({ seenAcrossClients: new Set(['a']) }))).toEqual(['held']);
    const off = { duplicates: false, acrossClients: false };
    expect(kinds(seen, state({ guards: off }))).toEqual(['admitted', 'admitted']);
    expect(kinds([seen[0] as Asking, asking('b', { payments: ['x 1'] })])).toEqual(['admitted', 'admitted']);
  });
});

/** Small worlds, so that keys, contents and caps are met often. */
const CLIENTS = ['shop', 'till', 'kiosk'];
const amount = fc.integer({ min: 1, max: 3_000_000 }).map((micros) => new Decimal(micros).div(1_000_000));
const cap = fc.option(fc.integer({ min: 0, max: 9_000_000 }).map((micros) => new Decimal(micros).div(1_000_000)));
const askings = fc.array(
  fc.record({
    clientId: fc.constantFrom(...CLIENTS),
    operation: fc.constantFrom('POST /payouts/airtime', 'POST /send'),
    idempotencyKey: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
    content: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    barred: fc.integer({ max: 7, min: 0 }).map((drawn) => drawn === 0),
    usd: fc.option(amount, { freq: 8 }),
    heldFor: fc.option(fc.constant('over_threshold' as const), { freq: 1 }),
    payments: fc.subarray(['x 1', 'y 1', 'z 1']),
    /** What the database knows: a claim, a duplicate, the same from another client. */
    known: fc.record({
      claim: fc.option(fc.boolean(), { freq: 1 }),
      duplicate: fc.boolean(),
      elsewhere: fc.boolean(),
    }),
  }),
  { maxLength: 25 },
);
const world = fc.record({
  asked: askings,
  budgets: fc.array(fc.record({ daily: cap, monthly: cap, today: amount, before: amount }), {
    minLength: CLIENTS.length,
    maxLength: CLIENTS.length,
  }),
  stops: fc.array(fc.constantFrom(stop({ clientId: 'kiosk' }), stop({ operation: 'POST /send' })), { maxLength: 1 }),
  guards: fc.record({ duplicates: fc.boolean(), acrossClients: fc.boolean() }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function build({ asked, budgets, stops, guards }: World) {
  const calls = asked.map(({ known: _known, ...more }, place) => asking(`call-${place}`, more));
  const known = asked.map((one, place) => ({ id: `call-${place}`, key: one.idempotencyKey, ...one.known }));
  const toBudget = ({ daily, monthly, today, before }: World['budgets'][number]) =>
    budget({ dailyCapUsd: daily, monthlyCapUsd: monthly, spentTodayUsd: today, spentThisMonthUsd: today.plus(before) });
  const at: State = {
    claims: new Map(
      known
        .filter(({ claim, key }) => claim !== null && key !== null)
        .map(({ id, claim }) => [id, { callId: `earlier-${id}`, sameContent: claim === true }]),
    ),
    duplicates: new Map(known.filter(({ duplicate }) => duplicate).map(({ id }) => [id, `earlier-${id}`])),
    seenAcrossClients: new Set(known.filter(({ elsewhere }) => elsewhere).map(({ id }) => id)),
    ...{ stops, guards },
    budgets: new Map(budgets.map((one, place) => [CLIENTS[place] ?? '', toBudget(one)])),
  };
  return { calls, at };
}

/** With what has been decided about those before it, for each call. */
function replay(made: World, look: (call: Asking, verdict: Verdict, before: [Asking, Verdict][], at: State) => void) {
  const { calls, at } = build(made);
  const verdicts = decide(calls, build(made).at);
  expect(verdicts).toHaveLength(calls.length);
  const pairs = calls.map((call, place): [Asking, Verdict] => [call, verdicts[place] as Verdict]);
  for (const [place, [call, verdict]] of pairs.entries()) look(call, verdict, pairs.slice(0, place), at);
}

const isOpen = ({ kind }: Verdict) => kind === 'admitted' || kind === 'held';

/** What the client has spent and reserved by then, and whether so much more still fits. */
function fits(clientId: string, more: Decimal, before: [Asking, Verdict][], at: State): boolean {
  const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = at.budgets.get(clientId) as Budget;
  const batch = before
    .filter(([call, { kind }]) => call.clientId === clientId && kind === 'admitted')
    .reduce((sum, [call]) => sum.plus(call.usd ?? 0), more);
  const under = (spent: Decimal, cap: Decimal | null) => cap === null || spent.plus(batch).lte(cap);
  return under(spentTodayUsd, dailyCapUsd) && under(spentThisMonthUsd, monthlyCapUsd);
}

describe('for any batch and any state, decide', () => {
  it('never admits over a cap, and never refuses for money what would have fitted', () => {
    fc.assert(
      fc.property(world, (made) =>
        replay(made, (call, verdict, before, at) => {
          if (isOpen(verdict) && call.usd) expect(fits(call.clientId, call.usd, before, at)).toBe(true);
          if (verdict.kind === 'overCap') expect(fits(call.clientId, call.usd as Decimal, before, at)).toBe(false);
        }),
      ),
      { numRuns: 1_000 },
    );
  });

  it('opens at most one call of a key, none whose key is claimed, none that is barred or stopped, none suspected', () => {
    fc.assert(
      fc.property(world, (made) =>
        replay(made, (call, verdict, before, { claims, duplicates, stops, guards }) => {
          const same = (other: Asking) => other.clientId === call.clientId && other.operation === call.operation;
          const opened = before.filter(([other, decided]) => same(other) && isOpen(decided)).map(([other]) => other);
          const first = call.idempotencyKey && opened.find((other) => other.idempotencyKey === call.idempotencyKey);
          const isStopped = stops.some((one) => one.clientId === call.clientId || one.operation === call.operation);
          const isSuspected =
            call.idempotencyKey === null &&
            guards.duplicates &&
            (duplicates.has(call.id) || opened.some((other) => other.content === call.content));
          const mayOpen = !claims.has(call.id) && !first && !call.barred && !isStopped && !isSuspected;
          expect(isOpen(verdict) || verdict.kind === 'overCap').toBe(mayOpen);
          if (!claims.has(call.id) && first) {
            const kind = first.content === call.content ? 'repeated' : 'keyReused';
            expect(verdict).toEqual({ kind, firstCallId: first.id });
          }
        }),
      ),
      { numRuns: 1_000 },
    );
  });

  it('decides about a client as if it were alone, as long as the guard across clients is off', () => {
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

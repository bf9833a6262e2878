import { Decimal } from 'decimal.js';
import { Asking, Budget, decide, State } from './admission';
import { Stop } from './stops';

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

const stop = (more: Partial<Stop> = {}): Stop => ({
  id: 'stop',
  clientId: null,
  operation: null,
  reason: 'drill',
  ...more,
});
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

  it('refuses what is stopped, and says by what', () => {
    const elsewhere = stop({ clientId: 'till' });
    const here = stop({ operation: 'POST /payouts/airtime' });
    expect(kinds([asking('a')], state({ stops: [elsewhere] }))).toEqual(['admitted']);
    expect(decide([asking('a')], state({ stops: [elsewhere, here] }))).toEqual([{ kind: 'stopped', stop: here }]);
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

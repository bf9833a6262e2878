import {
  budget,
  OFF,
  payment,
  request,
  state,
  stop,
  usd,
} from '../../test/support/payments/admission-requests';
import { AdmissionRequest, Budget, State } from './admission';
import { decide } from './decide';
import { SameContent } from './same-content';

const kinds = (requests: AdmissionRequest[], at = state()) => decide(requests, at).map(({ kind }) => kind);

describe('decide', () => {
  it('admits one call per key, repeats those with its content, and refuses the rest as reused', () => {
    const key = { idempotencyKey: 'k', content: 'same' };
    expect(
      decide([request('a', key), request('b', key), request('c', { ...key, content: 'other' })], state()),
    ).toEqual([
      { kind: 'admitted' },
      { kind: 'repeated', firstCallId: 'a' },
      { kind: 'key_reused', firstCallId: 'a' },
    ]);
  });

  it('separates the keys of clients and operations', () => {
    const key = { idempotencyKey: 'k', content: 'same' };
    const elsewhere = [
      request('b', { ...key, clientId: 'till' }),
      request('c', { ...key, operation: 'POST /send' }),
    ];
    expect(kinds([request('a', key), ...elsewhere])).toEqual(['admitted', 'admitted', 'admitted']);
  });

  it.each([
    [{ overOwnLimit: true }, state()],
    [{}, state({ stops: [stop()] })],
    [{}, state({ budgets: new Map([['shop', budget({ dailyCapUsd: usd('0') })]]) })],
  ])('repeats an executed call, whatever the current rules: %#', (more, at) => {
    at.claims.set('b', { callId: 'a', sameContent: true });
    const again = request('b', { idempotencyKey: 'k', ...more });
    expect(decide([again], at)).toEqual([{ kind: 'repeated', firstCallId: 'a' }]);
    at.claims.clear();
    expect(kinds([again], at)).not.toContain('admitted');
  });

  describe('with calls of the same content', () => {
    const same = { content: 'same' };
    const open = (callId: string): SameContent => ({
      callId,
      state: 'unknown',
      paidSecondsAgo: null,
      undelivered: false,
    });
    const paid = (callId: string, paidSecondsAgo: number): SameContent => ({
      callId,
      state: 'succeeded',
      paidSecondsAgo,
      undelivered: false,
    });
    const after = (calls: SameContent[], more: Partial<AdmissionRequest> = {}) =>
      decide([request('b', { ...same, ...more })], state({ sameContent: new Map([['b', calls]]) }))[0];
    const key = { idempotencyKey: 'k' };
    const list = { items: [payment('x@example.com', '1'), payment('y@example.com', '1')] };

    it('refuses any request while one is open, whatever its key', () => {
      const refused = { kind: 'duplicate', first: open('a') };
      expect([after([open('a')]), after([open('a')], key)]).toEqual([refused, refused]);
    });

    it('refuses a request without a key for the window, and a list for a day whatever its key', () => {
      expect([after([paid('a', 30)])?.kind, after([paid('a', 31)])?.kind]).toEqual(['duplicate', 'admitted']);
      expect(after([paid('a', 0)], key)).toEqual({ kind: 'admitted' });
      const day = [86_400, 86_401].map((ago) => after([paid('a', ago)], { ...key, ...list })?.kind);
      expect(day).toEqual(['duplicate', 'admitted']);
    });

    it('refuses any request for a day after a paid call whose client hung up, whatever its key', () => {
      const unheard = (ago: number): SameContent => ({ ...paid('a', ago), undelivered: true });
      const day = [0, 86_400, 86_401].map((ago) => after([unheard(ago)], key)?.kind);
      expect(day).toEqual(['duplicate', 'duplicate', 'admitted']);
    });

    it('refuses any request for a day after a call in doubt was found paid, whatever its key', () => {
      const settled = (ago: number): SameContent => ({ ...paid('a', ago), state: 'confirmed' });
      const day = [0, 86_400, 86_401].map((ago) => after([settled(ago)], key)?.kind);
      expect(day).toEqual(['duplicate', 'duplicate', 'admitted']);
      expect(after([settled(99)])?.kind).toBe('duplicate');
      expect(after([settled(99)], { ...key, allowDuplicateOf: 'a' })?.kind).toBe('admitted');
    });

    it('admits only a request that names the newest one', () => {
      const calls = [open('a2'), open('a1')];
      expect(after(calls, { ...key, allowDuplicateOf: 'a2' })).toEqual({
        kind: 'admitted',
        duplicateOf: 'a2',
      });
      for (const allowDuplicateOf of ['a1', 'else']) {
        expect(after(calls, { ...key, allowDuplicateOf })).toEqual({ kind: 'duplicate', first: open('a2') });
      }
      expect(after([paid('a', 99)], { ...key, allowDuplicateOf: 'a' })).toEqual({ kind: 'admitted' });
    });

    it('names the newest one even if only an older one blocks', () => {
      const calls = [paid('a2', 99), open('a1')];
      expect(after(calls, { ...key, allowDuplicateOf: 'a1' })).toEqual({
        kind: 'duplicate',
        first: paid('a2', 99),
      });
      expect(after(calls, { ...key, allowDuplicateOf: 'a2' })).toEqual({
        kind: 'admitted',
        duplicateOf: 'a2',
      });
    });

    it('admits one of two that name the same call, held or not', () => {
      const two = [1, 2].map((n) =>
        request(`b${n}`, { ...same, idempotencyKey: `k${n}`, allowDuplicateOf: 'a' }),
      );
      const at = state({ sameContent: new Map(two.map(({ id }) => [id, [open('a')]])) });
      expect(decide(two, at)).toEqual([
        { kind: 'admitted', duplicateOf: 'a' },
        {
          kind: 'duplicate',
          first: { callId: 'b1', state: 'in_progress', paidSecondsAgo: null, undelivered: false },
        },
      ]);
      const held = two.map((one) => ({ ...one, heldFor: 'over_threshold' as const }));
      expect(decide(held, at)).toMatchObject([
        { kind: 'held', duplicateOf: 'a' },
        { kind: 'duplicate', first: { callId: 'b1', state: 'pending_approval' } },
      ]);
    });

    it('suspects duplicates in one batch, with and without keys, unless the guard is off', () => {
      const twice = [request('a', same), request('b', { ...same, ...key })];
      expect(kinds(twice)).toEqual(['admitted', 'duplicate']);
      expect(kinds([...twice].reverse())).toEqual(['admitted', 'duplicate']);
      expect(kinds(twice, state({ guards: OFF }))).toEqual(['admitted', 'admitted']);
      expect(kinds([request('a', same), request('b', { ...same, clientId: 'till' })])).toEqual([
        'admitted',
        'admitted',
      ]);
    });

    it('does not let the header bypass a key, a stop or a cap', () => {
      const named = request('b', { ...same, ...key, allowDuplicateOf: 'a' });
      const at = (more: Partial<State>) => state({ sameContent: new Map([['b', [open('a')]]]), ...more });
      const claimed = at({ claims: new Map([['b', { callId: 'a', sameContent: true }]]) });
      expect(decide([named], claimed)).toEqual([{ kind: 'repeated', firstCallId: 'a' }]);
      expect(kinds([named], at({ stops: [stop()] }))).toEqual(['stopped']);
      expect(kinds([named], at({ budgets: new Map([['shop', budget({ dailyCapUsd: usd('0') })]]) }))).toEqual(
        ['over_cap'],
      );
    });
  });

  it('refuses stopped requests, and names the stop', () => {
    const elsewhere = stop({ clientId: 'till' });
    const here = stop({ operation: 'POST /payouts/airtime' });
    expect(kinds([request('a')], state({ stops: [elsewhere] }))).toEqual(['admitted']);
    expect(decide([request('a')], state({ stops: [elsewhere, here] }))).toEqual([
      { kind: 'stopped', stop: here },
    ]);
  });

  const capped = (more: Partial<Budget>) => state({ budgets: new Map([['shop', budget(more)]]) });

  it('reserves the expected fees with the amount', () => {
    const half = (id: string) => request(id, { usd: usd('0.4'), feeUsd: usd('0.1') });
    const [first, second, third] = decide(
      [half('a'), half('b'), half('c')],
      capped({ dailyCapUsd: usd('1') }),
    );
    expect([first?.kind, second?.kind]).toEqual(['admitted', 'admitted']);
    expect(third).toMatchObject({ kind: 'over_cap', leftUsd: usd('0'), feeUsd: usd('0.1') });
  });

  it('pays exactly up to a cap, and returns the cap, its amount and the rest', () => {
    const daily = { dailyCapUsd: usd('1'), spentTodayUsd: usd('0.9') };
    expect(kinds([request('a', { usd: usd('0.1') })], capped(daily))).toEqual(['admitted']);
    expect(decide([request('a', { usd: usd('0.100001') })], capped(daily))).toEqual([
      {
        kind: 'over_cap',
        of: 'client',
        period: 'daily',
        capUsd: usd('1'),
        leftUsd: usd('0.1'),
        feeUsd: null,
      },
    ]);
    const monthly = { monthlyCapUsd: usd('1'), spentThisMonthUsd: usd('2'), dailyCapUsd: usd('5') };
    expect(decide([request('a')], capped(monthly))).toEqual([
      {
        kind: 'over_cap',
        of: 'client',
        period: 'monthly',
        capUsd: usd('1'),
        leftUsd: usd('0'),
        feeUsd: null,
      },
    ]);
    expect(kinds([request('a', { usd: null })], capped(monthly))).toEqual(['admitted']);
  });

  it('refuses a request of an unknown payer, unless no payer was looked up', () => {
    const alices = request('a', { payers: ['alice'] });
    expect(kinds([alices])).toEqual(['unknown_payer']);
    expect(kinds([alices], state({ payers: null }))).toEqual(['admitted']);
    expect(kinds([{ ...alices, usd: null }])).toEqual(['admitted']);
  });

  it('holds calls over a threshold or paid by another client, with a key and without a reservation', () => {
    const at = state({ budgets: new Map([['shop', budget({ dailyCapUsd: usd('1') })]]) });
    const held = request('a', { heldFor: 'over_threshold', idempotencyKey: 'k', content: 'same' });
    const after = [request('b', { idempotencyKey: 'k', content: 'same' }), request('c')];
    expect(decide([held, ...after], at)).toEqual([
      { kind: 'held', heldFor: 'over_threshold' },
      { kind: 'repeated', firstCallId: 'a' },
      { kind: 'admitted' },
    ]);
    const seen = [
      request('a', { items: [payment('x@example.com', '1'), payment('Y@example.com', '1')] }),
      request('b', { clientId: 'till', items: [payment('y@example.com', '1')] }),
    ];
    expect(decide(seen, state())[1]).toEqual({ kind: 'held', heldFor: 'seen_across_clients' });
    expect(kinds([request('a')], state({ seenAcrossClients: new Set(['a']) }))).toEqual(['held']);
    expect(kinds(seen, state({ guards: OFF }))).toEqual(['admitted', 'admitted']);
    expect(
      kinds([seen[0] as AdmissionRequest, request('b', { items: [payment('x@example.com', '1')] })]),
    ).toEqual(['admitted', 'admitted']);
  });
});

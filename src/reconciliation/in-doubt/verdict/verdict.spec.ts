import { atOnce } from '../../../../test/support/examples/at-once';
import {
  at,
  RULES,
  listedBatch,
  sentCall,
  worded,
} from '../../../../test/support/reconciliation/generated-doubts';
import { ListedTransaction, SentCall, ItemInDoubt } from '../calls-in-doubt';
import { Batches } from './batches';
import { CompetingCalls } from './competing-calls';
import { judge } from './verdict';

/** A call of two payouts, long after its quiet period, and the transactions that the upstream lists. */
describe('a call in doubt', () => {
  const items: [recipient: number, cents: number][] = [
    [1, 1],
    [2, 2],
  ];
  const doubt = sentCall(0, items, 0);
  const whole = listedBatch({ second: 1, items }, 1);
  const [first] = whole as [ListedTransaction];
  const listing = {
    readId: 'read',
    requestedAt: at(900),
    missing: 0,
    freshUntil: new Map([['airtime' as const, at(899)]]),
    oldest: at(-1),
  };
  const ask = (seen: ListedTransaction[], more: object = {}, call = doubt, others: SentCall[] = []) =>
    atOnce(
      judge(
        call,
        { ...listing, unclaimed: atOnce(Batches.of(seen)), ...more },
        atOnce(CompetingCalls.of(others, RULES)),
        RULES,
      ),
    );
  const other = { names: ['+254700000009'], amountUsd: '9.000000' };

  it.each<[string, string, ListedTransaction[]]>([
    ['confirmed', 'all of it', whole],
    [
      'confirmed',
      'all of it, and a batch with others',
      [...whole, { ...first, batchRef: 'b' }, { ...first, ...other, batchRef: 'b' }],
    ],
    ['confirmed', 'some of it', [first]],
    ['ambiguous', 'all of it, and some of it again', [...whole, { ...first, batchRef: 'batch 2' }]],
    ['ambiguous', 'all of it, twice', [...whole, ...whole.map((seen) => ({ ...seen, batchRef: 'batch 2' }))]],
    [
      'ambiguous',
      'all of it, in two batches',
      whole.map((seen, place) => ({ ...seen, batchRef: `batch ${place}` })),
    ],
    ['ambiguous', 'all of it, with one more', [...whole, { ...first, ...other }]],
    ['ambiguous', 'another amount', [{ ...first, amountUsd: '0.011000' }]],
    ['ambiguous', 'no amount', [{ ...first, amountUsd: null }]],
    ['ambiguous', 'no time', whole.map((seen) => ({ ...seen, issuedAt: null }))],
    ['ambiguous', 'a time before it was sent', whole.map((seen) => ({ ...seen, issuedAt: at(-11) }))],
    ['ambiguous', 'a time after the quiet period', whole.map((seen) => ({ ...seen, issuedAt: at(116) }))],
    ['confirmed', 'all of it, as failed', whole.map((seen) => ({ ...seen, ...worded('Failed') }))],
    ['ambiguous', 'another name of another kind', [{ ...first, names: ['ada@example.com'] }]],
    [
      'not_executed',
      'an equal payment by a name of another kind',
      [{ ...first, type: 'mobile_money', names: ['ada@example.com'] }],
    ],
    ['ambiguous', 'no recipient', [{ ...first, names: [] }]],
    ['ambiguous', 'the number without its country code', [{ ...first, names: ['tel:712345671'] }]],
    ['ambiguous', 'unpaid transactions', whole.map((seen) => ({ ...seen, ...worded('unpaid') }))],
    ['ambiguous', 'the same of another type', whole.map((seen) => ({ ...seen, type: 'mobile_money' }))],
    ['confirmed', 'all of it, of an unknown type', whole.map((seen) => ({ ...seen, type: 'Airtime_v2' }))],
    ['not_executed', 'other people', [{ ...first, ...other }]],
    [
      'not_executed',
      'the same recipient by other means',
      [{ ...first, type: 'mobile_money', amountUsd: '9.000000' }],
    ],
    ['not_executed', 'nothing', []],
  ])('is %s if the upstream lists %s', (verdict, _, seen) => {
    expect(ask(seen)?.verdict).toBe(verdict);
  });

  it('is judged by references if both sides have one', () => {
    const sold = { ...doubt, items: doubt.items.map((item) => ({ ...item, reference: 'order 7' })) };
    const referring = (reference: string) => whole.map((seen) => ({ ...seen, references: [reference] }));
    expect(ask(referring('order 7'), {}, sold)?.verdict).toBe('confirmed');
    expect(ask(referring('order 8'), {}, sold)?.verdict).toBe('ambiguous');
    expect(ask(whole, {}, sold)?.verdict).toBe('confirmed');
  });

  describe('with an ID of ours in its request', () => {
    const sold = { ...doubt, items: doubt.items.map((item) => ({ ...item, reference: doubt.id })) };
    const showing = (id: string, more: Partial<ListedTransaction> = {}) =>
      whole.map((seen) => ({ ...seen, references: [id], namedCallId: id, ...more }));
    const asked = (seen: ListedTransaction[], showsIdsOf: string[] = [], more: object = {}) =>
      ask([], { unclaimed: atOnce(Batches.of(seen, new Set(showsIdsOf))), ...more }, sold)?.verdict;

    it('is confirmed by the transactions with its ID, despite equal ones', () => {
      const equal = whole.map((seen) => ({ ...seen, batchRef: 'b' }));
      expect(asked([...showing(doubt.id), ...equal])).toBe('confirmed');
      expect(asked([...showing(doubt.id), ...showing(doubt.id, { batchRef: 'b' })])).toBe('ambiguous');
    });

    it('is not executed if the equal transactions have the ID of another call', () => {
      expect(asked(showing('another'))).toBe('not_executed');
    });

    it('is ambiguous if a transaction with its ID differs from it in everything else', () => {
      expect(asked(showing(doubt.id, other))).toBe('ambiguous');
    });

    it('is confirmed by transactions without an ID, unless its operation shows IDs', () => {
      expect(asked(whole)).toBe('confirmed');
      expect(asked(whole, ['POST /payouts/mobile-money'])).toBe('confirmed');
      expect(asked(whole, [doubt.operation])).toBe('ambiguous');
    });
  });

  it('is not executed despite another amount of another call for the same person', () => {
    const other = sentCall(1, [[1, 5]], 0);
    const theirs = listedBatch({ second: 1, items: [[1, 5]] }, 1);
    expect(ask(theirs, {}, doubt, [other])?.verdict).toBe('not_executed');
    expect(ask(theirs)?.verdict).toBe('ambiguous');
  });

  it('is confirmed with one transaction for each item, in any order', () => {
    const verdict = ask([...whole].reverse());
    const named = verdict?.evidence.transactions.map(({ position, upstream_ref: ref }) => [position, ref]);
    expect(named).toEqual([
      [0, '1/0'],
      [1, '1/1'],
    ]);
  });

  it('names the other call that could have created it', () => {
    const equal = { ...doubt, id: 'equal' };
    const verdict = ask(whole, {}, doubt, [doubt, equal]);
    expect(verdict).toMatchObject({ verdict: 'ambiguous', evidence: { calls: ['equal'] } });
  });

  it('is not confirmed by a possible part of another batch', () => {
    const single = sentCall(1, [[1, 1]], 0);
    const seen = listedBatch({ second: 1, items: [[1, 1]] }, 1);
    expect(ask(seen, {}, single, [doubt])).toMatchObject({
      verdict: 'ambiguous',
      evidence: { calls: ['call 0'] },
    });
    expect(ask(seen, {}, single)?.verdict).toBe('confirmed');
  });

  it.each([null, at(0)])('is never judged not executed by a listing that begins at %s', (oldest) => {
    expect(ask([], { oldest })?.evidence.transactions).toEqual([]);
    expect(ask([], { oldest })?.verdict).toBe('ambiguous');
  });

  it('is settled as not executed only if the listing provably shows its kind', () => {
    const transfer = { ...doubt, operation: 'POST /account/transfer' };
    expect(ask([], {}, transfer)).toMatchObject({
      verdict: 'ambiguous',
      reason: expect.stringContaining('does not yet show another transfer call of ours'),
    });
    const fresh = { freshUntil: new Map([['transfer' as const, at(899)]]) };
    expect(ask([], fresh, transfer)?.verdict).toBe('not_executed');
  });

  it.each([
    ['paid', 'paid'],
    ['redeemed', 'redeemed'],
    ['SUCCESSFUL', 'paid'],
    [' Completed ', 'paid'],
    ['Sent', 'paid'],
    ['failed', 'failed'],
    ['UNSUCCESSFUL', 'failed'],
    ['declined', 'failed'],
    ['rejected', 'failed'],
    ['refunded', 'refunded'],
    ['reversed', 'reversed'],
    ['expired', 'expired'],
    ['CANCELLED', 'failed'],
    ['PENDING', 'pending'],
    ['processing', 'pending'],
  ])('has the status of each payout: %s is %s', (status, entry) => {
    const seen = whole.map((one, place) => (place === 0 ? { ...one, ...worded(status) } : one));
    const verdict = ask(seen);
    expect(verdict?.verdict).toBe('confirmed');
    expect(verdict?.entries).toMatchObject([{ entry, transaction: { status } }, { entry: 'paid' }]);
    // A refund counts only if it is final.
    const early = ask(seen, { requestedAt: at(20) })?.verdict;
    expect(early).toBe(['paid', 'redeemed', 'pending'].includes(entry) ? 'confirmed' : undefined);
  });

  it.each(['on hold', '', null, 'unpaid'])(
    'leaves a payout with the status %s in doubt, and settles the other',
    (status) => {
      const seen = whole.map((one, place) => (place === 0 ? { ...one, ...worded(status) } : one));
      const verdict = ask(seen);
      expect([verdict?.verdict, verdict?.entries?.map(({ position, entry }) => [position, entry])]).toEqual(
        status === 'unpaid' ? ['ambiguous', []] : ['ambiguous', [[1, 'paid']]],
      );
      expect(ask(seen, { requestedAt: at(20) })).toBeUndefined(); // The status may change.
    },
  );

  it('settles the listed part, and the rest as not executed', () => {
    const verdict = ask([first]);
    expect(verdict?.entries?.map(({ position, entry }) => [position, entry])).toEqual([
      [0, 'paid'],
      [1, 'not_executed'],
    ]);
    expect(verdict?.reason).toContain('lists 1 of the 2 payouts');
    // Evidence too weak for the rest suffices for the listed part.
    const cut = ask([first], { oldest: null });
    expect([cut?.verdict, cut?.entries?.map(({ entry }) => entry)]).toEqual(['ambiguous', ['paid']]);
  });

  it('is confirmed as a link that waits for its payer', () => {
    const link = { ...doubt, operation: 'POST /send' };
    const seen = whole.map((one) => ({ ...one, type: 'credit', ...worded('unpaid') }));
    expect(ask(seen, {}, link)?.verdict).toBe('confirmed');
  });

  it('is never judged not executed as a collection with a reference of another call', () => {
    const collection = {
      ...doubt,
      operation: 'POST /collections/mobile-money/collect',
      items: doubt.items.slice(0, 1),
    };
    const [item] = collection.items as [ItemInDoubt];
    const asked = { ...collection, items: [{ ...item, reference: 'order 7', amountUsd: '5.000000' }] };
    const seen = [{ ...first, type: 'payment', references: ['order 7'], amountUsd: '0.038000' }];
    expect(ask(seen, {}, asked, [{ ...asked, id: 'equal' }])?.verdict).toBe('ambiguous');
  });

  it('is never judged not executed if its recipient was erased and its amount is listed', () => {
    const erased = { ...doubt, items: doubt.items.map((item) => ({ ...item, payee: [], names: [] })) };
    expect(ask(whole, {}, erased)?.verdict).toBe('ambiguous');
    expect(ask([{ ...first, ...other }], {}, erased)?.verdict).toBe('not_executed');
  });

  it('is judged quickly with a thousand equal items', () => {
    const many = Array.from({ length: 1_000 }, (): [number, number] => [1, 1]);
    expect(ask(listedBatch({ second: 1, items: many }, 1), {}, sentCall(0, many, 0))?.verdict).toBe(
      'confirmed',
    );
  });
});

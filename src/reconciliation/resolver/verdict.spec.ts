import { at, RULES, toSeen, toSent } from '../../../test/support/made-up-doubts';
import { Seen, Sent } from './doubt';
import { Issues } from './issues';
import { judge } from './verdict';

/** One call of two payouts, long after its quiet period, and what the upstream lists instead of them. */
describe('a call of which the upstream lists something else', () => {
  const doubt = toSent(
    0,
    [
      [1, 1],
      [2, 2],
    ],
    0,
  );
  const whole = toSeen(
    {
      second: 1,
      items: [
        [1, 1],
        [2, 2],
      ],
    },
    1,
  );
  const [first] = whole as [Seen];
  const listing = {
    readId: 'read',
    askedAt: at(900),
    missing: 0,
    shows: new Set<string>(),
    freshUntil: at(899),
    oldest: at(-1),
  };
  const ask = (seen: Seen[], more: object = {}, call = doubt, rivals: Sent[] = []) =>
    judge(call, { ...listing, unclaimed: new Issues(seen), ...more }, rivals, RULES);
  const other = { names: ['p:254700000009'], amountUsd: '9.000000' };

  it.each<[string, string, Seen[]]>([
    ['landed', 'all of it', whole],
    [
      'landed',
      'all of it, and a batch with others',
      [...whole, { ...first, issueId: 'b' }, { ...first, ...other, issueId: 'b' }],
    ],
    ['ambiguous', 'some of it', [first]],
    ['ambiguous', 'all of it, and some of it again', [...whole, { ...first, issueId: 'issue 2' }]],
    ['ambiguous', 'all of it, twice', [...whole, ...whole.map((seen) => ({ ...seen, issueId: 'issue 2' }))]],
    ['ambiguous', 'all of it, in two batches', whole.map((seen, place) => ({ ...seen, issueId: `issue ${place}` }))],
    ['ambiguous', 'all of it, with one more', [...whole, { ...first, ...other }]],
    ['ambiguous', 'another amount', [{ ...first, amountUsd: '0.011000' }]],
    ['ambiguous', 'no amount', [{ ...first, amountUsd: null }]],
    ['ambiguous', 'no time', whole.map((seen) => ({ ...seen, issuedAt: null }))],
    ['ambiguous', 'a time before it was sent', whole.map((seen) => ({ ...seen, issuedAt: at(-11) }))],
    ['ambiguous', 'a time after the quiet period', whole.map((seen) => ({ ...seen, issuedAt: at(116) }))],
    ['ambiguous', 'all of it, as failed', whole.map((seen) => ({ ...seen, status: 'Failed' }))],
    ['landed', 'all of it, reversed since', whole.map((seen) => ({ ...seen, status: 'reversed' }))],
    ['ambiguous', 'somebody by a name of another kind', [{ ...first, names: ['e:somebody@example.com'] }]],
    [
      'absent',
      'the like of it by a name of another kind',
      [{ ...first, type: 'momo', names: ['e:somebody@example.com'] }],
    ],
    ['ambiguous', 'nobody', [{ ...first, names: [] }]],
    ['ambiguous', 'the number as it is dialled at home', [{ ...first, names: ['p:0712345671'] }]],
    ['ambiguous', 'what is not paid', whole.map((seen) => ({ ...seen, status: 'unpaid' }))],
    ['ambiguous', 'the same of another type', whole.map((seen) => ({ ...seen, type: 'momo' }))],
    ['landed', 'all of it, of a type that nobody knows', whole.map((seen) => ({ ...seen, type: 'Airtime_v2' }))],
    ['absent', 'other people', [{ ...first, ...other }]],
    ['absent', 'the same recipient by other means', [{ ...first, type: 'momo', amountUsd: '9.000000' }]],
    ['absent', 'nothing', []],
  ])('is %s if it lists %s', (verdict, _, seen) => {
    expect(ask(seen)?.verdict).toBe(verdict);
  });

  it('is judged by its references, where both have one', () => {
    const sold = { ...doubt, items: doubt.items.map((item) => ({ ...item, reference: 'order 7' })) };
    const referring = (reference: string) => whole.map((seen) => ({ ...seen, references: [reference] }));
    expect(ask(referring('order 7'), {}, sold)?.verdict).toBe('landed');
    expect(ask(referring('order 8'), {}, sold)?.verdict).toBe('ambiguous');
    expect(ask(whole, {}, sold)?.verdict).toBe('landed');
  });

  it('is absent though another call has paid the same person something else', () => {
    const rival = toSent(1, [[1, 5]], 0);
    const theirs = toSeen({ second: 1, items: [[1, 5]] }, 1);
    expect(ask(theirs, {}, doubt, [rival])?.verdict).toBe('absent');
    expect(ask(theirs)?.verdict).toBe('ambiguous');
  });

  it('is landed with one transaction for each item, in whichever order', () => {
    const verdict = ask([...whole].reverse());
    expect(verdict?.evidence.transactions.map(({ position, chi_ref }) => [position, chi_ref])).toEqual([
      [0, '1/0'],
      [1, '1/1'],
    ]);
  });

  it('names the other call that could have made it', () => {
    const twin = { ...doubt, id: 'twin' };
    expect(ask(whole, {}, doubt, [doubt, twin])).toMatchObject({ verdict: 'ambiguous', evidence: { calls: ['twin'] } });
  });

  it('is not landed by what may be all that was carried out of a batch', () => {
    const single = toSent(1, [[1, 1]], 0);
    const seen = toSeen({ second: 1, items: [[1, 1]] }, 1);
    expect(ask(seen, {}, single, [doubt])).toMatchObject({ verdict: 'ambiguous', evidence: { calls: ['call 0'] } });
    expect(ask(seen, {}, single)?.verdict).toBe('landed');
  });

  it.each([null, at(0)])('is never absent by a listing that begins at %s', (oldest) => {
    expect(ask([], { oldest })?.evidence.transactions).toEqual([]);
    expect(ask([], { oldest })?.verdict).toBe('ambiguous');
  });

  it('is absent only where the listing is known to show its like', () => {
    const transfer = { ...doubt, operation: 'POST /account/transfer' };
    expect(ask([], {}, transfer)).toMatchObject({
      verdict: 'ambiguous',
      reason: expect.stringContaining('no transfer'),
    });
    expect(ask([], { shows: new Set(['transfer']) }, transfer)?.verdict).toBe('absent');
  });

  it('of which the record names nobody any more is never absent as long as there is something of its amount', () => {
    const erased = { ...doubt, items: doubt.items.map((item) => ({ ...item, payee: [], names: [] })) };
    expect(ask(whole, {}, erased)?.verdict).toBe('ambiguous');
    expect(ask([{ ...first, ...other }], {}, erased)?.verdict).toBe('absent');
  });

  it('is judged quickly though a thousand items are all alike', () => {
    const many = Array.from({ length: 1_000 }, (): [number, number] => [1, 1]);
    expect(ask(toSeen({ second: 1, items: many }, 1), {}, toSent(0, many, 0))?.verdict).toBe('landed');
  });
});

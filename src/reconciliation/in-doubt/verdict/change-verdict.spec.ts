import { at, RULES, sentCall, worded } from '../../../../test/support/reconciliation/generated-doubts';
import { Lookup, ListedTransaction, SentCall } from '../calls-in-doubt';
import { CompetingChange, judgeChange } from './change-verdict';
import { Listing } from './facts';

describe('the verdict about a call that changes a transaction', () => {
  const listing: Listing = {
    readId: 'read',
    requestedAt: at(900),
    missing: 0,
    oldest: at(-1),
    isOfNewAccount: false,
    freshUntil: new Map([['credit', at(899)]]),
  };
  const doubt: SentCall = { ...sentCall(0, [[1, 1]], 0), operation: 'POST /redeem/airtime' };
  const OTHERS = sentCall(0, [[2, 1]], 0).items; // for another recipient
  const deletion: SentCall = { ...doubt, operation: 'POST /account/delete-unpaid-transaction' };
  const rejected = (call: SentCall): SentCall => ({ ...call, isRejected: true });
  const seen = {
    ...worded('paid'),
    amount_usd: null,
    names: [],
  } as unknown as ListedTransaction;
  const lookup: Lookup = {
    readId: 'one',
    requestedAt: at(900),
    createdBy: 'POST /payouts/credit',
    changedBefore: false,
    transaction: seen,
  };
  const redeemed = { ...lookup, transaction: { ...seen, ...worded('redeemed') } };
  const gone = { ...lookup, transaction: null };
  const other = (more: Partial<CompetingChange> = {}): CompetingChange => ({
    id: 'call 1',
    operation: 'POST /redeem/airtime',
    items: OTHERS,
    sentFrom: at(10),
    wasRejected: false,
    state: 'open',
    ...more,
  });
  const judge = (one: Lookup | undefined, competing: CompetingChange[] = [], call = doubt) => {
    const { isRejected: wasRejected } = call;
    return judgeChange(call, { lookup: one, wasRejected, competing, listing, rules: RULES })?.verdict;
  };

  it('is not_executed while the transaction is unchanged', () => {
    expect(judge(lookup)).toBe('not_executed');
    expect(judge({ ...lookup, transaction: { ...seen, ...worded('completed') } })).toBe('ambiguous');
  });

  it('needs no recent transaction after a plain rejection, and waits for its quiet period', () => {
    const asked = (seconds: number) =>
      judge({ ...lookup, createdBy: null, requestedAt: at(seconds) }, [], rejected(doubt));
    expect([asked(24), asked(25)]).toEqual([undefined, 'not_executed']);
  });

  it('requires a recent transaction of the kind that the call changes', () => {
    expect(judge({ ...lookup, createdBy: 'POST /send' })).toBe('ambiguous');
    expect(judge({ ...lookup, createdBy: null })).toBe('ambiguous');
  });

  it.each([
    ['redemption', doubt, redeemed],
    ['deletion', deletion, gone],
  ])(
    'is confirmed at once for the only %s of a changed transaction, whatever was answered',
    (_what, call, one) => {
      const early = { ...one, requestedAt: at(6) };
      expect([judge(early, [], call), judge(early, [], rejected(call))]).toEqual(['confirmed', 'confirmed']);
      expect(judge({ ...one, changedBefore: true }, [], rejected(call))).toBe('not_executed');
    },
  );

  it('concludes nothing about a missing transaction from a listing that lacks others', () => {
    const incomplete = { ...listing, missing: 1 };
    const facts = { lookup: gone, wasRejected: false, competing: [], listing: incomplete, rules: RULES };
    expect(judgeChange(deletion, facts)?.verdict).toBe('ambiguous');
  });

  it.each([redeemed, lookup, gone, undefined])('is not_executed if another call was, %#', (one) => {
    const executed = other({ state: 'executed' });
    expect([judge(one, [executed]), judge(one, [executed], rejected(doubt))]).toEqual([
      'not_executed',
      'not_executed',
    ]);
    if (one) expect(judge({ ...one, requestedAt: at(50) }, [executed])).toBeUndefined();
  });

  /** Whether each of two calls was rejected, and the expected verdicts about both. */
  it.each([
    [false, true, ['confirmed', 'not_executed']],
    [true, false, ['not_executed', 'confirmed']],
    [true, true, ['confirmed', 'not_executed']],
    [false, false, ['ambiguous', 'ambiguous']],
  ])('confirms at most one of two calls, rejected: %s, %s', (isFirst, isSecond, expected) => {
    const second = { ...doubt, id: 'call 1', sentFrom: at(10), sentUntil: at(15), isRejected: isSecond };
    const one = judge(redeemed, [other({ wasRejected: isSecond })], { ...doubt, isRejected: isFirst });
    const competing = other({ id: 'call 0', sentFrom: at(0), wasRejected: isFirst });
    expect([one, judge(redeemed, [competing], second)]).toEqual(expected);
  });

  /** The second call is sent at the same time, or ten seconds later. */
  it.each([0, 10])('confirms the first of two equal calls, %i s apart', (apart) => {
    const equal = { operation: doubt.operation, items: doubt.items };
    const second = { ...doubt, id: 'call 1', sentFrom: at(apart), sentUntil: at(15) };
    const one = judge(redeemed, [other({ ...equal, sentFrom: at(apart) })]);
    const two = judge(redeemed, [other({ ...equal, id: 'call 0', sentFrom: at(0) })], second);
    expect([one, two]).toEqual(['confirmed', 'not_executed']);
    const third = other({ id: 'call 2', sentFrom: at(20) });
    expect(judge(redeemed, [other(equal), third])).toBe('ambiguous');
    expect(judge(redeemed, [other({ ...equal, state: 'in_progress' })])).toBeUndefined();
  });

  it('concludes nothing from equal calls whose recipients were erased', () => {
    const erased = doubt.items.map((item) => ({ ...item, names: [] }));
    const call = { ...doubt, items: erased };
    expect(judge(redeemed, [other({ items: erased })], call)).toBe('ambiguous');
  });

  it('waits for another call in progress, and ignores calls that make another change', () => {
    expect(judge(redeemed, [other({ state: 'in_progress' })])).toBeUndefined();
    expect(judge(redeemed, [other({ operation: deletion.operation })])).toBe('confirmed');
  });
});

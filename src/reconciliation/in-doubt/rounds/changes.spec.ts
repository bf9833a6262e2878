import { at, RULES, sentCall, worded } from '../../../../test/support/reconciliation/generated-doubts';
import { Lookup, ListedTransaction } from '../calls-in-doubt';
import { Listing } from '../verdict/facts';
import { judgeChange } from './changes.service';

describe('the verdict about a call that changes a transaction', () => {
  const listing: Listing = {
    readId: 'read',
    requestedAt: at(900),
    missing: 0,
    oldest: at(-1),
    freshUntil: new Map([['credit', at(899)]]),
  };
  const doubt = { ...sentCall(0, [[1, 1]], 0), operation: 'POST /redeem/airtime' };
  const seen = {
    ...worded('paid'),
    amountUsd: null,
    names: [],
    references: [],
  } as unknown as ListedTransaction;
  const lookup: Lookup = {
    readId: 'one',
    requestedAt: at(900),
    createdBy: 'POST /payouts/credit',
    transaction: seen,
  };
  const verdictOn = (one: Lookup) => judgeChange(doubt, one, listing, [], RULES)?.verdict;

  it('is not_executed while the transaction is unchanged', () => {
    expect(verdictOn(lookup)).toBe('not_executed');
    expect(verdictOn({ ...lookup, transaction: { ...seen, ...worded('redeemed') } })).toBe('ambiguous');
  });

  it('needs no recent transaction after a plain rejection, and waits for its quiet period', () => {
    const unproven = { ...lookup, createdBy: null };
    const rejected = { ...doubt, isRejected: true };
    const asked = (seconds: number) =>
      judgeChange(rejected, { ...unproven, requestedAt: at(seconds) }, listing, [], RULES)?.verdict;
    expect([asked(24), asked(25)]).toEqual([undefined, 'not_executed']);
  });

  it('requires a recent transaction of the kind that the call changes', () => {
    expect(verdictOn({ ...lookup, createdBy: 'POST /send' })).toBe('ambiguous');
    expect(verdictOn({ ...lookup, createdBy: null })).toBe('ambiguous');
  });
});

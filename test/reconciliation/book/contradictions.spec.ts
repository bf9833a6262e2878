import { ContradictionsService } from '../../../src/reconciliation/book/contradictions.service';
import { reset } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { answersWith, LyingLedger, Transaction } from '../../support/reconciliation/lying-ledger';

/** An upstream whose answers and listing contradict each other. */
describe('a transaction of the book', () => {
  let ledger: LyingLedger;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    ledger = await LyingLedger.start({ duplicateGuard: false, ...never });
  });
  afterAll(() => ledger.paying.close());
  beforeEach(() => (ledger.transactions = []));

  // The first test, because the listing of the others lacks earlier transactions.
  it('is of one of two equal payouts, and the other was not executed', async () => {
    const one = ledger.shown({ phoneNumber: '+254712345684' });
    const first = await ledger.pay(reset, one.phoneNumber);
    const second = await ledger.pay(reset, one.phoneNumber);
    const later = ledger.shown({ phoneNumber: '+254712345685' }); // shows that the listing is current
    ledger.transactions = [ledger.shown({ issueDate: '2026-01-01T00:00:00Z' }), one];
    await ledger.round();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'in_doubt']);
    ledger.quiet({ quietMs: 0 });
    await ledger.pay(answersWith(later), later.phoneNumber);
    ledger.transactions.push(later);
    await ledger.round();
    ledger.quiet({ quietMs: 3_600_000 });
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'not_executed']);
  });

  it('belongs to the payout that it was named for first, and a second one waits for its own', async () => {
    const before = await ledger.contradictions();
    const [one, other] = [ledger.shown(), ledger.shown()];
    ledger.transactions = [one, other];
    const first = await ledger.pay(answersWith(one));
    const second = await ledger.pay(answersWith(one)); // repeats the row of the first
    await ledger.followUp();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'paid']); // by its own row
    expect((await ledger.contradictions()).slice(before.length)).toEqual(['owner']);
    one.status = 'reversed';
    await ledger.followUp();
    expect(await ledger.statesOf(first, second)).toEqual(['reversed', 'paid']);
  });

  it('leaves a second payout in doubt that it was named for, if the listing has none for it', async () => {
    const one = ledger.shown();
    ledger.transactions = [one];
    const first = await ledger.pay(answersWith(one));
    const second = await ledger.pay(answersWith(one));
    await ledger.followUp();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'in_doubt']);
    one.status = 'failed';
    await ledger.followUp();
    expect(await ledger.statesOf(first, second)).toEqual(['failed', 'in_doubt']);
  });

  it.each([
    ['recipient', { phoneNumber: '+254712345679', valueInUSD: 2.5 }],
    ['amount', { valueInUSD: 3 }],
    ['type', { type: 'mobile_money' }],
  ])('is not changed by a row with its names and another %s', async (kind, difference) => {
    const before = await ledger.contradictions();
    const one = ledger.shown();
    ledger.transactions = [one];
    const call = await ledger.pay(answersWith(one));
    await ledger.followUp();
    ledger.transactions = [{ ...one, ...difference, status: 'failed' }];
    await ledger.followUp();
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('paid');
    expect((await ledger.contradictions()).slice(before.length)).toEqual([kind]);
    ledger.transactions = [one, { ...one, ...difference, status: 'failed' }];
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('paid');
    one.status = 'reversed';
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('reversed');
  });

  it.each([
    ['an ID', { id: 'id-of-a-variant' }],
    ['no ID', { id: undefined }],
  ])('is followed with %s, though an answer gave its reference to another payout', async (_which, names) => {
    const one = ledger.shown({ phoneNumber: '+254712345690', ...names });
    const lost = await ledger.pay(reset, one.phoneNumber);
    const false_ = ledger.shown({ phoneNumber: '+254712345691', chiRef: one.chiRef, id: undefined });
    await ledger.pay(answersWith(false_), false_.phoneNumber);
    ledger.transactions = [one];
    await ledger.round();
    expect(await ledger.stateOf(lost)).toBe('paid');
    one.status = 'reversed';
    await ledger.followUp();
    expect(await ledger.stateOf(lost)).toBe('reversed');
    one.status = 'paid';
    await ledger.followUp();
    expect(await ledger.stateOf(lost)).toBe('paid');
  });

  it('is followed if an older transaction of another payout has its name', async () => {
    const named = ledger.shown({ phoneNumber: '+254712345693', id: undefined });
    ledger.transactions = [named];
    const call = await ledger.pay(answersWith(named), named.phoneNumber);
    await ledger.followUp();
    const one = ledger.shown({ phoneNumber: '+254712345694', chiRef: named.chiRef, id: undefined });
    const lost = await ledger.pay(reset, one.phoneNumber);
    ledger.transactions.push(one);
    await ledger.round();
    expect(await ledger.statesOf(call, lost)).toEqual(['paid', 'paid']);
    ledger.transactions = [one];
    for (const status of ['reversed', 'paid']) {
      one.status = status;
      await ledger.followUp();
      expect(await ledger.statesOf(call, lost)).toEqual(['paid', status]);
    }
  });

  it('is of the payout of its amount, though an answer names it for one of nearly its amount', async () => {
    const phoneNumber = '+254712345692';
    const [one, other] = [2.5004, 2.5006].map((valueInUSD) => ledger.shown({ phoneNumber, valueInUSD })) as [
      Transaction,
      Transaction,
    ];
    const first = await ledger.pay(reset, phoneNumber, 2.5004);
    const second = await ledger.pay(answersWith(one), phoneNumber, 2.5006); // repeats the row of the first
    ledger.transactions = [one, other];
    await ledger.round();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'paid']);
    other.status = 'reversed';
    await ledger.followUp();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'reversed']);
  });

  it('is of each payout once, though the upstream reuses its reference', async () => {
    const one = ledger.shown();
    ledger.transactions = [one];
    const call = await ledger.pay(answersWith(one));
    await ledger.followUp();
    const lost = await ledger.pay(reset, '+254712345680');
    ledger.transactions = [one, ledger.shown({ chiRef: one.chiRef, phoneNumber: '+254712345680' })];
    await ledger.round();
    expect(await ledger.statesOf(call, lost)).toEqual(['paid', 'paid']);
  });

  it('with an unknown status keeps its payout in doubt, though the answer alone shows it', async () => {
    const one = ledger.shown({ status: 'ON_HOLD', phoneNumber: '+254712345682' });
    ledger.transactions = [one];
    const call = await ledger.pay(answersWith(one), one.phoneNumber);
    ledger.quiet({ quietMs: 0 });
    const later = ledger.shown({ phoneNumber: '+254712345683' }); // shows that the listing is current
    await ledger.pay(answersWith(later), later.phoneNumber);
    ledger.transactions = [ledger.shown({ issueDate: '2026-01-01T00:00:00Z' }), one, later];
    await ledger.round();
    ledger.quiet({ quietMs: 3_600_000 });
    expect(await ledger.stateOf(call)).toBe('in_doubt');
    const { body } = await ledger.paying.proxy.get(ledger.paying.app, `/v1/calls/${call}`).expect(200);
    expect(body.doubt?.reason).toContain('"ON_HOLD"');
  });

  it('moves to the payout whose answer names it, from one that it was only like', async () => {
    const one = ledger.shown({ phoneNumber: '+254712345681' });
    const lost = await ledger.pay(reset, one.phoneNumber);
    ledger.transactions = [one];
    await ledger.round();
    expect(await ledger.stateOf(lost)).toBe('paid');
    const named = await ledger.pay(answersWith(one), one.phoneNumber);
    await ledger.followUp();
    await ledger.worker.get(ContradictionsService).handle(new AbortController().signal);
    expect(await ledger.statesOf(lost, named)).toEqual(['in_doubt', 'paid']);
    ledger.transactions = [one, ledger.shown({ phoneNumber: one.phoneNumber })];
    await ledger.round();
    await eventually(async () => (await ledger.stateOf(lost)) === 'paid');
  });

  it('has at most one payout in the database, and a payout at most one transaction', async () => {
    const { database } = ledger.paying.proxy;
    const [row] = await database.query<{ id: string; call_id: string }>(
      'SELECT id, call_id FROM book_transaction WHERE call_id IS NOT NULL LIMIT 1',
    );
    const second = `UPDATE book_transaction SET call_id = $2, position = 0, ground = 'answer',
      attributed_at = now()
      WHERE id = (SELECT id FROM book_transaction WHERE id <> $1 LIMIT 1)`;
    await expect(database.query(second, [row?.id, row?.call_id])).rejects.toThrow('unique constraint');
  });

  it.each([
    ['recipient', { phoneNumber: '+254712345699' }],
    ['type', { type: 'momo' }],
  ])('raises one alarm if the listing shows it first, with another %s', async (kind, other) => {
    const before = await ledger.contradictions();
    const one = ledger.shown();
    const call = await ledger.pay(answersWith(one));
    ledger.transactions = [{ ...one, ...other }];
    await ledger.followUp();
    expect((await ledger.contradictions()).slice(before.length)).toEqual([kind]);
    expect(await ledger.stateOf(call)).toBe('in_doubt');
    await ledger.round();
    expect((await ledger.contradictions()).slice(before.length)).toEqual([kind]);
  });
});

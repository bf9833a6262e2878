import { INestApplicationContext } from '@nestjs/common';
import { BookService } from '../../../src/reconciliation/book/book.service';
import { ContradictionsService } from '../../../src/reconciliation/book/contradictions.service';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, Behaviour, reset } from '../../support/network/fake-upstream';
import { eventually, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { Transaction } from '../../support/reconciliation/lying-ledger';

type Shown = Omit<Transaction, 'id'> & { id?: string | undefined; reference?: string };

/** An upstream whose answers and listing contradict each other. */
describe('a transaction of the book', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let listed: Shown[] = [];
  let count = 0;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    paying = await startPaying({ resolverQuietSeconds: 3_600, ...never });
    worker = await paying.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 3_600_000;
  });
  afterAll(() => paying.close());
  beforeEach(() => (listed = []));

  const shown = (more: Partial<Shown> = {}): Shown => ({
    id: `id-${(count += 1)}`,
    chiRef: `ref-${count}`,
    issueID: `issue-${count}`,
    issueDate: new Date().toISOString(),
    type: 'airtime',
    status: 'paid',
    phoneNumber: PHONE,
    valueInUSD: 2.5,
    ...more,
  });
  const answersWith = (...data: Shown[]): Behaviour =>
    answer(200, { status: 'success', data: { data, error: 'None' } });
  /** Lets payouts be answered in this way, and the listing show what is listed. */
  const behave = (payout: Behaviour) => {
    paying.upstream.behaviour = (request, response, socket) =>
      request.url.endsWith('/account/transactions')
        ? answer(200, { status: 'success', data: listed })(request, response, socket)
        : payout(request, response, socket);
  };
  const pay = async (payout: Behaviour, phone?: string) => {
    behave(payout);
    return (await paying.pay(phone)).headers['x-call-id'] ?? '';
  };
  const follow = () => worker.get(FollowUpService).runOnce();
  const stateOf = async (call: string) => {
    const { body } = await paying.proxy.get(paying.app, `/v1/payouts/${call}.0`).expect(200);
    return body.state;
  };
  const alarms = async () => {
    const rows = await paying.proxy.database.query<{ kind: string }>(
      `SELECT after::json ->> 'kind' AS kind FROM activity WHERE action = 'transaction_contradicted' ORDER
        BY id`,
    );
    return rows.map(({ kind }) => kind);
  };

  // The first test, because the listing of the others lacks earlier transactions.
  it('is of one of two equal payouts, and the other was not executed', async () => {
    const one = shown({ phoneNumber: '+254712345684' });
    const first = await pay(reset, one.phoneNumber);
    const second = await pay(reset, one.phoneNumber);
    const later = shown({ phoneNumber: '+254712345685' }); // shows that the listing is current
    listed = [shown({ issueDate: '2026-01-01T00:00:00Z' }), one];
    await worker.get(ResolverService).runOnce();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'in_doubt']);
    worker.get(PollService).rules.quietMs = 0;
    await pay(answersWith(later), later.phoneNumber);
    listed.push(later);
    await worker.get(ResolverService).runOnce();
    worker.get(PollService).rules.quietMs = 3_600_000;
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'not_executed']);
  });

  it('belongs to the payout that it was named for first, and a second one waits for its own', async () => {
    const before = await alarms();
    const [one, other] = [shown(), shown()];
    listed = [one, other];
    const first = await pay(answersWith(one));
    const second = await pay(answersWith(one)); // repeats the row of the first
    await follow();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'paid']); // by its own row
    expect((await alarms()).slice(before.length)).toEqual(['owner']);
    one.status = 'reversed';
    await follow();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['reversed', 'paid']);
  });

  it('leaves a second payout in doubt that it was named for, if the listing has none for it', async () => {
    const one = shown();
    listed = [one];
    const first = await pay(answersWith(one));
    const second = await pay(answersWith(one));
    await follow();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'in_doubt']);
    one.status = 'failed';
    await follow();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['failed', 'in_doubt']);
  });

  it.each([
    ['recipient', { phoneNumber: '+254712345679', valueInUSD: 2.5 }],
    ['amount', { valueInUSD: 3 }],
    ['type', { type: 'mobile_money' }],
  ])('is not changed by a row with its names and another %s', async (kind, difference) => {
    const before = await alarms();
    const one = shown();
    listed = [one];
    const call = await pay(answersWith(one));
    await follow();
    listed = [{ ...one, ...difference, status: 'failed' }];
    await follow();
    await follow();
    expect(await stateOf(call)).toBe('paid');
    expect((await alarms()).slice(before.length)).toEqual([kind]);
    listed = [one, { ...one, ...difference, status: 'failed' }];
    await follow();
    expect(await stateOf(call)).toBe('paid');
    one.status = 'reversed';
    await follow();
    expect(await stateOf(call)).toBe('reversed');
  });

  it.each([
    ['an ID', { id: 'id-of-a-variant' }],
    ['no ID', { id: undefined }],
  ])('is followed with %s, though an answer gave its reference to another payout', async (_which, names) => {
    const one = shown({ phoneNumber: '+254712345690', ...names });
    const lost = await pay(reset, one.phoneNumber);
    const false_ = shown({ phoneNumber: '+254712345691', chiRef: one.chiRef, id: undefined });
    await pay(answersWith(false_), false_.phoneNumber);
    listed = [one];
    await worker.get(ResolverService).runOnce();
    expect(await stateOf(lost)).toBe('paid');
    one.status = 'reversed';
    await follow();
    expect(await stateOf(lost)).toBe('reversed');
    one.status = 'paid';
    await follow();
    expect(await stateOf(lost)).toBe('paid');
  });

  it('is of the payout of its amount, though an answer names it for one of nearly its amount', async () => {
    const phoneNumber = '+254712345692';
    const [one, other] = [2.5004, 2.5006].map((valueInUSD) => shown({ phoneNumber, valueInUSD })) as [
      Shown,
      Shown,
    ];
    const payAmount = async (valueInUSD: number, payout: Behaviour) => {
      behave(payout);
      const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] };
      const { headers } = await paying.proxy.post(paying.app, '/payouts/airtime', body);
      return headers['x-call-id'] ?? '';
    };
    const first = await payAmount(2.5004, reset);
    const second = await payAmount(2.5006, answersWith(one)); // repeats the row of the first
    listed = [one, other];
    await worker.get(ResolverService).runOnce();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'paid']);
    other.status = 'reversed';
    await follow();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'reversed']);
  });

  it('is of each payout once, though the upstream reuses its reference', async () => {
    const one = shown();
    listed = [one];
    const call = await pay(answersWith(one));
    await follow();
    const lost = await pay(reset, '+254712345680');
    listed = [one, shown({ chiRef: one.chiRef, phoneNumber: '+254712345680' })];
    await worker.get(ResolverService).runOnce();
    expect([await stateOf(call), await stateOf(lost)]).toEqual(['paid', 'paid']);
  });

  it('with an unknown status keeps its payout in doubt, though the answer alone shows it', async () => {
    const one = shown({ status: 'ON_HOLD', phoneNumber: '+254712345682' });
    listed = [one];
    const call = await pay(answersWith(one), one.phoneNumber);
    const { rules } = worker.get(PollService);
    Object.assign(rules, { quietMs: 0 });
    const later = shown({ phoneNumber: '+254712345683' }); // shows that the listing is current
    await pay(answersWith(later), later.phoneNumber);
    listed = [shown({ issueDate: '2026-01-01T00:00:00Z' }), one, later];
    await worker.get(ResolverService).runOnce();
    Object.assign(rules, { quietMs: 3_600_000 });
    expect(await stateOf(call)).toBe('in_doubt');
    const { body } = await paying.proxy.get(paying.app, `/v1/calls/${call}`).expect(200);
    expect(body.doubt?.reason).toContain('"ON_HOLD"');
  });

  it('moves to the payout whose answer names it, from one that it was only like', async () => {
    const one = shown({ phoneNumber: '+254712345681' });
    const lost = await pay(reset, one.phoneNumber);
    listed = [one];
    await worker.get(ResolverService).runOnce();
    expect(await stateOf(lost)).toBe('paid');
    const named = await pay(answersWith(one), one.phoneNumber);
    const contradictions = worker.get(ContradictionsService);
    await follow();
    await contradictions.handle(new AbortController().signal);
    expect([await stateOf(lost), await stateOf(named)]).toEqual(['in_doubt', 'paid']);
    listed = [one, shown({ phoneNumber: one.phoneNumber })];
    await worker.get(ResolverService).runOnce();
    await eventually(async () => (await stateOf(lost)) === 'paid');
  });

  it('has at most one payout in the database, and a payout at most one transaction', async () => {
    const { database } = paying.proxy;
    const [row] = await database.query<{ id: string; call_id: string }>(
      'SELECT id, call_id FROM book_transaction WHERE call_id IS NOT NULL LIMIT 1',
    );
    const second = `UPDATE book_transaction SET call_id = $2, position = 0, ground = 'answer',
      attributed_at = now()
      WHERE id = (SELECT id FROM book_transaction WHERE id <> $1 LIMIT 1)`;
    await expect(database.query(second, [row?.id, row?.call_id])).rejects.toThrow('unique constraint');
    expect(worker.get(BookService)).toBeDefined();
  });

  it.each([
    ['recipient', { phoneNumber: '+254712345699' }],
    ['type', { type: 'momo' }],
  ])('raises an alarm if the listing shows it first, with another %s', async (kind, other) => {
    const before = await alarms();
    const one = shown();
    const call = await pay(answersWith(one));
    listed = [{ ...one, ...other }];
    await follow();
    expect((await alarms()).slice(before.length)).toEqual([kind]);
    expect(await stateOf(call)).toBe('paid');
    await worker.get(ResolverService).runOnce();
    expect((await alarms()).slice(before.length)).toEqual([kind]);
  });
});

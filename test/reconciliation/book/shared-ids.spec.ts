import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { reset } from '../../support/network/fake-upstream';
import { answersWith, LyingLedger } from '../../support/reconciliation/lying-ledger';

/** An upstream that gives the ID of a transaction to one of another party. */
describe('two transactions with one ID', () => {
  let ledger: LyingLedger;
  let phones = 0;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    ledger = await LyingLedger.start({ duplicateGuard: false, ...never });
  });
  afterAll(() => ledger.paying.close());

  /** Follows up with a new worker, which reads every row again, not only those that changed. */
  const followUp = async () => {
    const worker = await ledger.paying.proxy.startWorker();
    await worker.get(FollowUpService).runOnce();
    await worker.close();
  };

  const enteredAs = async (...refs: string[]) => {
    const { database } = ledger.paying.proxy;
    const count = 'SELECT count(*)::integer FROM book_transaction WHERE upstream_ref = ANY ($1)';
    return (await database.query<{ count: number }>(count, [refs]))[0]?.count;
  };

  describe.each([
    ['an answer with the ID', true],
    ['an answer without the ID', false],
  ])('after %s', (_which, hasId) => {
    it.each([
      ['at once', ['own other'], ['id']],
      ['at once, the other one first', ['other own'], ['id']],
      ['the other one later', ['own', 'own other'], hasId ? ['id'] : []],
      ['the other one earlier', ['other', 'other own'], hasId ? ['id'] : []],
    ])('stay two, and are of no equal payout: listed %s', async (_order, readings, alarms) => {
      const before = await ledger.contradictions();
      const phoneNumber = `+2547123457${String((phones += 1)).padStart(2, '0')}`;
      const lost = await ledger.pay(reset, phoneNumber);
      const own = ledger.shown({ phoneNumber });
      const answered = await ledger.pay(answersWith(hasId ? own : { ...own, id: undefined }), phoneNumber);
      const other = ledger.shown({ id: own.id, phoneNumber: '+254712345799', status: 'failed' });
      for (const reading of [...readings, ...readings.slice(-1)]) {
        ledger.transactions = reading.split(' ').map((one) => (one === 'own' ? own : other));
        await followUp();
        expect(await ledger.statesOf(lost, answered)).toEqual(['in_doubt', 'paid']);
      }
      own.status = 'reversed';
      await followUp();
      expect(await ledger.statesOf(lost, answered)).toEqual(['in_doubt', 'reversed']);
      expect(await enteredAs(own.chiRef, other.chiRef)).toBe(2);
      expect((await ledger.contradictions()).slice(before.length)).toEqual(alarms);
    });
  });

  it('stay two in one answer, and each is followed', async () => {
    const phoneNumber = '+254712345720';
    const one = ledger.shown({ phoneNumber });
    const other = ledger.shown({ phoneNumber, id: one.id });
    const call = await ledger.pay(answersWith(one, other), phoneNumber, 2.5, 2.5);
    ledger.transactions = [one, other];
    await followUp();
    other.status = 'reversed';
    await followUp();
    const { app, proxy } = ledger.paying;
    const states = [0, 1].map(async (position) => {
      return (await proxy.get(app, `/v1/payouts/${call}.${position}`).expect(200)).body.state;
    });
    expect(await Promise.all(states)).toEqual(['paid', 'reversed']);
  });

  it('stay two if the other one is listed before the answer', async () => {
    const own = ledger.shown({ phoneNumber: '+254712345721' });
    ledger.transactions = [ledger.shown({ id: own.id, phoneNumber: '+254712345799', status: 'failed' })];
    await followUp();
    const call = await ledger.pay(answersWith(own), own.phoneNumber);
    await followUp();
    expect(await ledger.stateOf(call)).toBe('paid');
    own.status = 'reversed';
    ledger.transactions.push(own);
    await followUp();
    expect(await ledger.stateOf(call)).toBe('reversed');
  });
});

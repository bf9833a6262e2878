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
      ['at once', ['own other'], ['recipient'], ['id']],
      ['at once, the other one first', ['other own'], ['recipient'], ['id']],
      ['the other one later', ['own', 'own other'], ['recipient'], []],
      ['the other one earlier', ['other', 'other own'], ['recipient'], []],
    ])('stay two, and are of no equal payout: listed %s', async (_order, readings, named, unnamed) => {
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
      expect((await ledger.contradictions()).slice(before.length)).toEqual(hasId ? named : unnamed);
    });
  });
});

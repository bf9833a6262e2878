import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { answer } from '../../support/network/fake-upstream';
import { PHONE, AIRTIME, startPaying } from '../../support/payments/paying';
import { tamper } from '../../support/records/sealing';

/** Copies have no settlements, so a worker that goes on must look at the upstream's list as if it was new. */
describe('a settlement lost with the database', () => {
  it('is recorded again by the same worker after the recovery', async () => {
    let status = 'paid';
    const transaction = { chiRef: 'ref', id: 'id', issueID: 'issue', type: 'airtime', phoneNumber: PHONE };
    const paying = await startPaying({ followUpEverySeconds: 0, checkCoverage: false });
    const issueDate = new Date().toISOString();
    paying.upstream.behaviour = (request, response, socket) => {
      const list = [{ ...transaction, issueDate, valueInUSD: 2.5, status }];
      const data = request.url.endsWith('/account/transactions') ? list : { data: list, error: 'None' };
      return answer(200, { status: 'success', data })(request, response, socket);
    };
    const worker = await paying.proxy.startWorker();
    const follow = () => worker.get(FollowUpService).runOnce();
    const got = await paying.proxy.post(paying.app, '/payouts/airtime', AIRTIME).expect(200);
    const state = async () => (await paying.record(got)).items[0]?.state;
    await follow();
    status = 'failed';
    await follow();
    expect(await state()).toBe('failed');
    await tamper(paying.proxy.database, 'DELETE FROM settlement');
    // The book was written in the same transaction.
    await paying.proxy.database.query(`UPDATE book_transaction SET status = 'paid'`);
    await paying.proxy.database.query('UPDATE spending SET usd = 2.5');
    expect(await state()).toBe('paid');
    await paying.proxy.database.query(
      `INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`,
    );
    await follow();
    expect(await state()).toBe('failed');
    await paying.close();
  });
});

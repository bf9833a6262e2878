import { findCandidates } from '../../../src/reconciliation/book/candidates';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, reset } from '../../support/network/fake-upstream';
import { startPaying } from '../../support/payments/paying';
import { Transaction } from '../../support/reconciliation/lying-ledger';

/** Names of a transaction: its recipient, reference, ID and batch. */
const NAMES = 4;

describe('the calls that may have made a transaction without a payout', () => {
  it('are found for the newest transactions, however many older ones are of other parties', async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    const paying = await startPaying({ resolverQuietSeconds: 3_600, ...never });
    let listed: Transaction[] = [];
    paying.upstream.behaviour = (request, response, socket) =>
      request.url.endsWith('/account/transactions')
        ? answer(200, { status: 'success', data: listed })(request, response, socket)
        : reset(request, response, socket);
    const shown = (name: string, phoneNumber: string): Transaction => ({
      id: `id-${name}`,
      chiRef: `ref-${name}`,
      issueID: `issue-${name}`,
      issueDate: new Date().toISOString(),
      type: 'airtime',
      status: 'paid',
      phoneNumber,
      valueInUSD: 7, // Another amount, so the payout does not get it.
    });
    try {
      const worker = await paying.proxy.startWorker();
      const call = (await paying.pay('+254712345601')).headers['x-call-id'];
      listed = Array.from({ length: 20 }, (_, place) => shown(`other-${place}`, `+2547123457${10 + place}`));
      await worker.get(ResolverService).runOnce();
      listed.push(shown('own', '+254712345601'));
      await worker.get(ResolverService).runOnce();
      const { url: databaseUrl, ownerUrl: databaseOwnerUrl } = paying.proxy.database;
      const db = await connectForRun({ databaseUrl, databaseOwnerUrl });
      const found = await findCandidates(db, 'main', new Date(Date.now() - 3_600_000), NAMES);
      await db.end();
      expect(found).toEqual([call]);
    } finally {
      await paying.close();
    }
  });
});

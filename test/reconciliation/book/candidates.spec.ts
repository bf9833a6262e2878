import { findCandidates } from '../../../src/reconciliation/book/candidates';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { reset } from '../../support/network/fake-upstream';
import { LyingLedger } from '../../support/reconciliation/lying-ledger';

/** Names of a transaction: its recipient, reference, ID and batch. */
const NAMES = 4;

describe('the calls that may have made a transaction without a payout', () => {
  it('are found for the newest transactions, however many older ones are of other parties', async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    const ledger = await LyingLedger.start(never);
    const { paying } = ledger;
    // Another amount, so the payout does not get it.
    const shown = (phoneNumber: string) => ledger.shown({ phoneNumber, valueInUSD: 7 });
    try {
      const call = await ledger.pay(reset, '+254712345601');
      ledger.transactions = Array.from({ length: 20 }, (_, place) => shown(`+2547123457${10 + place}`));
      await ledger.round();
      ledger.transactions.push(shown('+254712345601'));
      await ledger.round();
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

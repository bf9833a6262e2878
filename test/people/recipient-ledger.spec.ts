import { INestApplicationContext } from '@nestjs/common';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { answer } from '../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../support/payments/paying';

/** Sums per recipient follow the ledger, like caps. */
describe('the limit of a recipient', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let key: string;
  let listed: { chiRef: string; status: string }[] = [];
  let words: string[] = [];

  beforeAll(async () => {
    paying = await startPaying({ followUpEverySeconds: 0, checkCoverage: false });
    worker = await paying.proxy.startWorker();
    key = (await paying.proxy.client('by-recipient', 'pay', 'read')).key;
    await paying.proxy.database.query('UPDATE client SET max_recipient_day_usd = 10');
    paying.upstream.behaviour = (request, response, socket) => {
      const { credits } = JSON.parse(request.body) as { credits?: { email: string; valueInUSD: number }[] };
      const created = credits?.map((credit, index) => {
        const id = `tx-${listed.length + index}`;
        const transaction = {
          chiRef: `ref-${id}`,
          id,
          issueID: 'issue',
          issueDate: new Date().toISOString(),
          type: 'credit',
        };
        return { ...transaction, ...credit, status: words[index] ?? 'paid' };
      });
      listed = [...listed, ...(created ?? [])];
      const data = credits ? { data: created, error: 'None' } : listed;
      return answer(200, { status: 'success', data })(request, response, socket);
    };
  });
  afterAll(() => paying.close());

  const pay = (...payouts: [name: string, usd: number][]) => {
    const credits = payouts.map(([name, valueInUSD]) => ({ email: `${name}@example.com`, valueInUSD }));
    return paying.proxy.post(key, '/payouts/credit', { credits });
  };

  it('counts each payout of a call by its state', async () => {
    words = ['paid', 'failed', 'AWAITING_REVIEW'];
    await pay(['ada', 10], ['bob', 10], ['eve', 10]);
    words = [];
    await pay(['ada', 1]).expect(403);
    await pay(['eve', 1]).expect(403);
    await pay(['bob', 10]).expect(200);
    await pay(['bob', 1]).expect(403);
  });

  it('releases payouts that are reversed later', async () => {
    await pay(['zoe', 10], ['kim', 10]).expect(200);
    await pay(['zoe', 1]).expect(403);
    const [zoe] = listed.slice(-2);
    listed = listed.map((payout) => (payout === zoe ? { ...payout, status: 'reversed' } : payout));
    await worker.get(FollowUpService).runOnce();
    await pay(['zoe', 10]).expect(200);
    await pay(['kim', 1]).expect(403);
  });
});

import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import supertest from '../../support/http/supertest';
import {
  reconcile,
  ReconciliationScene,
  startReconciling,
} from '../../support/reconciliation/reconciliation-scene';

/** A run compares the listing with the ledger, beyond the original answer. */
describe('a run after settlements', () => {
  let scene: ReconciliationScene;
  let approver: string;

  beforeAll(async () => {
    scene = await startReconciling({ followUpEverySeconds: 0 });
    approver = (await scene.proxy.client('approver', 'approve', 'audit')).key;
    await scene.pay('+254712345600').expect(200); // older than the periods
  });
  afterAll(() => scene.close());

  /** Settles a payout by hand. Returns a run's findings about it. */
  const findingsAfter = async (phone: string, settled?: 'failed' | 'confirmed') => {
    const from = new Date().toISOString();
    const id = (await scene.pay(phone).expect(200)).headers['x-call-id'] ?? '';
    if (settled) {
      await supertest(scene.proxy.url)
        .post(`/v1/calls/${id}/resolution`)
        .set('X-API-Key', approver)
        .send({ outcome: settled, reason: 'the telco says so', supersedes: id })
        .expect(settled === 'failed' ? 200 : 400);
    }
    await scene.worker.get(FollowUpService).runOnce();
    const asking = { url: scene.proxy.url, key: scene.reconciler };
    const { result, totals } = await reconcile(asking, { from, to: new Date().toISOString() });
    return { result, found: totals?.findings.by_category, residual: totals?.residual_usd };
  };

  it('is clean if nothing was settled, or nothing would change', async () => {
    const clean = { result: 'clean', found: {}, residual: '0' };
    expect(await findingsAfter('+254712345601')).toEqual(clean);
    expect(await findingsAfter('+254712345602', 'confirmed')).toEqual(clean);
  });

  it('finds a payout that a person settled as failed and the upstream lists as paid', async () => {
    const found = { status: { count: 1, usd: '2.5' } };
    expect(await findingsAfter('+254712345603', 'failed')).toEqual({
      result: 'findings',
      found,
      residual: '0',
    });
  });
});

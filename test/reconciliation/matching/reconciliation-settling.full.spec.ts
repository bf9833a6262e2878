import { FenceService } from '../../../src/continuity/fence/fence.service';
import { eventually } from '../../support/payments/paying';
import {
  askForRun,
  ended,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

/** A run settles payouts in the ledger by its results. */
describe('a reconciliation run', () => {
  let scene: ReconciliationScene;

  beforeAll(async () => {
    scene = await startReconciling({ followUpEverySeconds: 0 });
  });
  afterAll(() => scene.close());

  const run = async () => {
    const asking = { url: scene.proxy.url, key: scene.reconciler };
    const { id } = (await askForRun(asking, untilNow()).expect(202)).body;
    return ended(asking, id);
  };
  const payout = async (id: string) =>
    (await scene.proxy.get(scene.app, `/v1/payouts/${id}`).expect(200)).body;

  it.each([
    ['reversed', 'reversed'],
    ['failed', 'failed'],
  ])(
    'settles a payout that the upstream lists as %s, and the next run finds nothing',
    async (status, state) => {
      const { headers } = await scene.pay(`+25471234560${state.length}`).expect(200);
      const id = headers['x-call-id'] ?? '';
      const { item } = await payout(id);
      await askSandbox(scene.sandbox.url)
        .patch(`/_sandbox/transactions/${item.upstream?.upstream_ref}`)
        .set('X-Sandbox-Control-Key', 'sandbox-control')
        .send({ status })
        .expect(200);
      const fence = scene.worker.get(FenceService);
      fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
      const found = [(await run()).result, (await run()).result];
      expect(found).toEqual(['findings', 'findings']); // a fenced worker compares, and settles nothing
      fence.lower('clock_skewed');
      expect((await run()).result).toBe('findings');
      await eventually(async () => (await payout(id)).state === state);
      expect((await payout(id)).ledger.at(-1)).toMatchObject({
        entry: state,
        source: 'reconciliation',
        status,
      });
      expect((await run()).result).toBe('clean');
    },
  );
});

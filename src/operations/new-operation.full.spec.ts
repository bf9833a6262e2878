import { readdirSync, readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import type * as GiftCardController from '../../test/support/examples/gift-cards/controller';
import type * as GiftCardRow from '../../test/support/examples/gift-cards/row';
import type * as GiftCardSandbox from '../../test/support/examples/gift-cards/sandbox';
import supertest from '../../test/support/http/supertest';
import {
  ReconciliationScene,
  reconcile,
  startReconciling,
  untilNow,
} from '../../test/support/reconciliation/reconciliation-scene';
import type * as Gateway from '../gateway/gateway.module';
import type * as Controllers from '../interface/payouts/payouts.controller';
import { PollService } from '../reconciliation/in-doubt/rounds/poll.service';
import type { Operation } from '../sandbox/http/call';
import type * as Payouts from '../sandbox/payouts/payouts';
import type * as Observed from './catalogue/observed';

const FOLDER = 'test/support/examples/gift-cards';
const GIFT_CARD = 'POST /payouts/gift-card';

// The operation that its guide adds: its row, its controller and its sandbox handler.
jest.mock<Partial<typeof Observed>>('./catalogue/observed', () => {
  const { OBSERVED } = jest.requireActual<typeof Observed>('./catalogue/observed');
  const { GIFT_CARDS } = jest.requireActual<typeof GiftCardRow>('../../test/support/examples/gift-cards/row');
  return { OBSERVED: { ...OBSERVED, ...GIFT_CARDS } };
});
jest.mock('../interface/payouts/payouts.module', () => {
  const { PayoutsController } = jest.requireActual<typeof Controllers>(
    '../interface/payouts/payouts.controller',
  );
  const { GiftCardsController } = jest.requireActual<typeof GiftCardController>(
    '../../test/support/examples/gift-cards/controller',
  );
  const { GatewayModule } = jest.requireActual<typeof Gateway>('../gateway/gateway.module');
  class PayoutsModule {}
  Module({ imports: [GatewayModule], controllers: [PayoutsController, GiftCardsController] })(PayoutsModule);
  return { PayoutsModule };
});
jest.mock<typeof Payouts>('../sandbox/payouts/payouts', () => {
  const actual = jest.requireActual<typeof Payouts>('../sandbox/payouts/payouts');
  // Loaded late, because the handler imports the module that is mocked here.
  const payOutGiftCards: Operation = (call, body) =>
    jest
      .requireActual<typeof GiftCardSandbox>('../../test/support/examples/gift-cards/sandbox')
      .payOutGiftCards(call, body);
  return { ...actual, creditRoutes: { ...actual.creditRoutes, 'POST /payouts/gift-card': payOutGiftCards } };
});

describe('an operation that follows the guide', () => {
  let reconciling: ReconciliationScene;
  let count = 0;

  beforeAll(async () => {
    reconciling = await startReconciling();
    quiet(3_600_000);
  });
  afterAll(() => reconciling.close());

  const giftCard = () => ({
    giftCards: [{ email: `somebody.${(count += 1)}@example.com`, valueInUSD: 8, brand: 'books' }],
  });
  const pay = (path = '/payouts/gift-card') => reconciling.proxy.post(reconciling.app, path, giftCard());
  const read = async (id: string) => (await reconciling.proxy.get(reconciling.app, `/v1/calls/${id}`)).body;
  const quiet = (ms: number) => (reconciling.worker.get(PollService).rules.quietMs = ms);
  const lose = async (fault: string) => {
    await reconciling.fault({ fault, operation: GIFT_CARD, nth: 1 });
    return (await pay().expect(502)).headers['x-call-id'] ?? '';
  };
  const round = () =>
    supertest(reconciling.proxy.url)
      .post('/v1/reconciliation/resolver/rounds')
      .set('X-API-Key', reconciling.reconciler)
      .expect(200);

  it('pays, and is listed with its scopes', async () => {
    const { body } = await pay().expect(200);
    expect(body).toMatchObject({ status: 'success', data: { error: 'None' } });
    // Bypasses our own request helper, which compares every answer with the OpenAPI document.
    const listed = await fetch(`${reconciling.proxy.url}/v1/operations`, {
      headers: { 'X-API-Key': reconciling.app },
    });
    const { operations } = (await listed.json()) as { operations: unknown[] };
    expect(operations).toContainEqual({
      operation: GIFT_CARD,
      effect: 'pay',
      scopes: ['pay'],
      documented: false,
    });
  });

  it('is rejected with all faults of its fields', async () => {
    const { body } = await reconciling.proxy
      .post(reconciling.app, '/payouts/gift-card', { giftCards: [{ email: 'ada', brand: 'books' }] })
      .expect(400);
    expect(body.errors?.map(({ pointer }) => pointer).sort()).toEqual([
      '/giftCards/0/email',
      '/giftCards/0/valueInUSD',
    ]);
  });

  it('gets a verdict after a lost answer of an executed call', async () => {
    const id = await lose('resetAfterProcessing');
    await round();
    const call = await read(id);
    expect(call).toMatchObject({ outcome: 'confirmed', operation: GIFT_CARD });
    expect(call.resolution?.transactions).toMatchObject([{ position: 0, amount_usd: '8', status: 'paid' }]);
  });

  it('gets a verdict after a lost answer of a call that was not executed', async () => {
    const id = await lose('resetBeforeProcessing');
    quiet(0);
    await pay().expect(200); // Shows how fresh the listing is.
    await round();
    expect(await read(id)).toMatchObject({ outcome: 'not_executed', resolution: { transactions: [] } });
  });

  it('is reconciled without a finding', async () => {
    const { proxy, reconciler: key } = reconciling;
    const { totals } = await reconcile({ url: proxy.url, key }, untilNow());
    expect(totals).toMatchObject({
      matched: { count: 3 },
      ours: { count: 3, usd: '24' },
      findings: { count: 0 },
      in_doubt: { count: 0 },
      residual_usd: '0',
    });
  });

  it('equals the example of the guide, line by line', () => {
    const guide = readFileSync('docs/internals/guides/add-an-operation.md', 'utf8');
    const examples = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, example = '']) =>
      inOneLine(example),
    );
    const files = readdirSync(FOLDER).map((name) => inOneLine(readFileSync(`${FOLDER}/${name}`, 'utf8')));
    expect(examples).toHaveLength(4);
    for (const example of examples) expect(files.some((file) => file.includes(example))).toBe(true);
  });
});

/** Without line breaks and indents, and without the cast that a name outside of the catalogue needs. */
function inOneLine(source: string): string {
  return source.replaceAll(' as OperationName', '').replace(/\s+/g, ' ').trim();
}

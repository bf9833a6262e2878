import { Entry } from '../../../src/operations/lifecycle/settlement';
import { Sandbox } from '../../../src/sandbox/app';
import supertest from '../../support/http/supertest';
import { startProxyWithSandbox, TestProxy } from '../../support/processes/proxy';
import { insertSettlements } from '../../support/records/documents';

/** A call that succeeded, and whose payouts failed or came back later. */
describe('payouts that were given back', () => {
  let proxy: TestProxy & { sandbox: Sandbox };
  let app: string;
  let other: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ duplicateGuard: true, duplicateAcrossClientsSeconds: 3_600 });
    ({ key: app } = await proxy.client('app', 'pay', 'read'));
    ({ key: other } = await proxy.client('other', 'pay', 'read'));
  });
  afterAll(() => proxy.close());

  const list = () => ({
    credits: [1, 2].map(() => ({ email: `person.${(count += 1)}@example.com`, valueInUSD: 0.25 })),
  });
  const pay = (body: object, key = app) => proxy.post(key, '/payouts/credit', body);
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const settleAs = (call: string, ...entries: Entry[]) =>
    insertSettlements(proxy.database, [
      {
        intent_id: call,
        resolution: undefined,
        counted_usd: String(0.25 * entries.filter((entry) => entry === 'paid').length),
        entries: entries.map((entry, position) => ({
          position,
          entry,
          from: 'recipient',
          to: entry === 'paid' ? 'recipient' : 'available',
        })),
      },
    ]);
  const seenBefore = async (body: object) => {
    const answer = await supertest(proxy.url)
      .post('/v1/preview/payouts/credit')
      .set('X-API-Key', app)
      .send(body)
      .expect(200);
    const { duplicates = [] } = answer.body as { duplicates?: { position: number; kind: string }[] };
    return duplicates.flatMap(({ position, kind }) => (kind === 'seen_before' ? [position] : []));
  };

  it.each<[Entry, Entry, boolean, number[]]>([
    ['paid', 'paid', false, [0, 1]],
    ['failed', 'paid', false, [1]],
    ['failed', 'failed', true, []],
    ['reversed', 'refunded', true, []],
  ])(
    'as %s and %s block an equal list only while one counts: sent again %s',
    async (one, two, isFree, seen) => {
      const body = list();
      const call = idOf(await pay(body).expect(200));
      expect((await pay(body).expect(409)).body).toMatchObject({ code: 'suspected_duplicate' });
      await settleAs(call, one, two);
      expect(await seenBefore(body)).toEqual(seen);
      // An approval is asked of another client only while the payment may have arrived.
      await pay(body, other).expect(isFree ? 200 : 202);
      await pay(body).expect(isFree ? 202 : 409);
    },
  );
});

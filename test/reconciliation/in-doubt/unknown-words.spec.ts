import { INestApplicationContext } from '@nestjs/common';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import supertest from '../../support/http/supertest';
import { startProxyWithSandbox } from '../../support/processes/proxy';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const WORD = 'SETTLED_T9';

const BODIES: [path: string, body: (who: number) => object][] = [
  ['/payouts/airtime', (who) => ({ airtimes: [{ ...phone(who), valueInUSD: 2 }] })],
  [
    '/payouts/mobile-money',
    (who) => ({ momos: [{ ...phone(who), valueInUSD: 2, momoCode: 'MPS', reference: '' }] }),
  ],
  ['/payouts/credit', (who) => ({ credits: [{ email: `person.${who}@example.com`, valueInUSD: 2 }] })],
];

function phone(who: number) {
  return { countryToSend: 'Kenya', phoneNumber: `+2547123456${10 + who}` };
}

/** A sandbox that uses a status word of its own, in answers and in its list. */
describe('a payout with an unknown status', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let app: string;
  let keys: Record<'reconciler' | 'auditor', string>;
  let who = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ resolverQuietSeconds: 3_600, checkCoverage: false });
    worker = await proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
    app = (await proxy.client('app', 'pay', 'read')).key;
    const reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    keys = { reconciler, auditor: (await proxy.client('auditor', 'audit')).key };
  });
  afterAll(() => proxy.close());

  const use = (answered: string, listed: string) =>
    askSandbox(proxy.sandbox.url)
      .patch('/_sandbox/settings')
      .set('X-Sandbox-Control-Key', 'sandbox-control')
      .send({ words: { answered: { paid: answered }, listed: { paid: listed } } })
      .expect(200);
  const pay = (path: string, body: object) => proxy.post(app, path, body).expect(200);
  const round = () =>
    supertest(proxy.url)
      .post('/v1/reconciliation/resolver/rounds')
      .set('X-API-Key', keys.reconciler)
      .expect(200);
  const itemOf = async (id: string) =>
    (await proxy.get(app, `/v1/calls/${id}`).expect(200)).body.items[0] ?? { state: null, next: null };

  it.each(BODIES)(
    'of %s stays in doubt, and names its transaction, until its word is known',
    async (path, bodyOf) => {
      await use(WORD, WORD);
      const { headers } = await pay(path, bodyOf((who += 1)));
      const id = headers['x-call-id'] ?? '';
      await pay(path, bodyOf((who += 1))); // shows that the list is current
      await round();
      expect(await itemOf(id)).toMatchObject({ state: 'in_doubt', next: 'wait' });
      const { doubt } = (await proxy.get(keys.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
      expect(doubt?.reason).toContain(WORD);
      expect(doubt?.transactions).toMatchObject([{ position: 0, status: WORD }]);
      await use('paid', 'paid');
      await round();
      expect(await itemOf(id)).toMatchObject({ state: 'paid', next: 'none' });
    },
  );
});

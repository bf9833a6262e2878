import { INestApplicationContext } from '@nestjs/common';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { startProxyWithSandbox } from '../../support/processes/proxy';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const PHONE = { countryToSend: 'Kenya', valueInUSD: 2 };

/** A request of each operation whose answers name their transactions, and its state once they are listed. */
const REQUESTS: [path: string, body: (number: number) => object, listed: string][] = [
  ['/payouts/airtime', (number) => ({ airtimes: [{ ...PHONE, phoneNumber: phone(number) }] }), 'paid'],
  [
    '/payouts/mobile-money',
    (number) => ({ momos: [{ ...PHONE, phoneNumber: phone(number), momoCode: 'MPS', reference: '' }] }),
    'paid',
  ],
  ['/payouts/credit', (number) => ({ credits: [{ email: email(number), valueInUSD: 2 }] }), 'paid'],
  [
    '/payouts/initiate-credit',
    (number) => ({ credits: [{ email: email(number), valueInUSD: 2 }] }),
    'pending',
  ],
];
const phone = (number: number) => `+2547123456${10 + number}`;
const email = (number: number) => `person.${number}@example.com`;

/** The sandbox answers a success without the transactions, whether or not it made them. */
describe('a success that names nothing', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let client: { id: string; key: string };
  let reconciler: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ resolverQuietSeconds: 3_600, checkCoverage: false });
    worker = await proxy.startWorker();
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  });
  afterAll(() => proxy.close());
  beforeEach(async () => {
    quiet(3_600_000);
    await control('delete', '/faults').expect(204);
    client = await proxy.client(`app-${(count += 1)}`, 'pay', 'write', 'read');
  });

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const quiet = (ms: number) => (worker.get(PollService).rules.quietMs = ms);
  const pay = (path: string, body: object) =>
    proxy.post(client.key, path, body).set('Idempotency-Key', 'one');
  const round = () =>
    supertest(proxy.url).post('/v1/reconciliation/resolver/rounds').set('X-API-Key', reconciler).expect(200);
  const itemOf = async (id: string) => {
    const { body } = await proxy.get(client.key, `/v1/calls/${id}`).expect(200);
    return { outcome: body.outcome, state: body.items[0]?.state, next: body.items[0]?.next };
  };
  const spent = async () => {
    const sum = 'SELECT coalesce(sum(usd), 0)::float AS usd FROM spending WHERE client_id = $1';
    return (await proxy.database.query<{ usd: number }>(sum, [client.id]))[0]?.usd;
  };
  const payInDoubt = async (path: string, body: object, processed: boolean) => {
    const operation = `POST ${path}`;
    await control('post', '/faults', { fault: 'successNamingNothing', operation, nth: 1, processed });
    const { headers, text } = await pay(path, body).expect(200);
    expect(JSON.parse(text)).toEqual({ status: 'success', data: { error: 'None' } });
    return { id: headers['x-call-id'] ?? '', text };
  };

  it.each(REQUESTS)('of %s is in doubt until the upstream lists it', async (path, bodyOf, listed) => {
    const body = bodyOf(count);
    const before = await spent();
    const { id, text } = await payInDoubt(path, body, true);
    expect(await itemOf(id)).toEqual({ outcome: 'succeeded', state: 'in_doubt', next: 'wait' });
    const reserved = await spent();
    const { body: payout } = await proxy.get(client.key, `/v1/payouts/${id}.0`).expect(200);
    expect(payout).toMatchObject({ outcome: 'succeeded', state: 'in_doubt', next: 'wait' });
    const again = await pay(path, body).expect(200);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([text, 'true']);
    expect((await round()).body.verdicts).toMatchObject([{ call_id: id, verdict: 'confirmed' }]);
    expect(await itemOf(id)).toMatchObject({ outcome: 'succeeded', state: listed });
    expect([before, await spent()]).toEqual([0, reserved]);
  });

  it('is settled as not executed if a later listing shows nothing', async () => {
    const credits = (who: number) => ({ credits: [{ email: email(who), valueInUSD: 2 }] });
    await proxy.post(client.key, '/payouts/credit', credits(99)).expect(200); // the listing reaches back
    const { id } = await payInDoubt('/payouts/credit', credits(100), false);
    expect((await round()).body.verdicts).toEqual([]);
    quiet(0);
    await proxy.post(client.key, '/payouts/credit', credits(101)).expect(200);
    expect((await round()).body.verdicts).toMatchObject([{ call_id: id, verdict: 'not_executed' }]);
    expect(await itemOf(id)).toEqual({ outcome: 'succeeded', state: 'not_executed', next: 'send_again' });
    expect(await spent()).toBe(4);
  });
});

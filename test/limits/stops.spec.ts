import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import supertest, { TypedApiRequest } from '../support/http/supertest';
import { Behaviour, FakeUpstream } from '../support/network/fake-upstream';
import { airtime, phoneOf, phones } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Two proxies on one database: what is stopped on one is stopped on the other when the answer is there. */
type Asking = () => TypedApiRequest<'post', '/api/v0.1/payouts/airtime'>;

describe('a stop', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let here: TestProxy;
  let there: TestProxy;
  let admin: string;
  let shop: string;
  let till: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    here = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    there = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    admin = (await here.client('operators', 'admin')).key;
    shop = (await here.client('shop', 'pay', 'write', 'read', 'account')).key;
    till = (await here.client('till', 'pay', 'write', 'read', 'account')).key;
  });
  afterAll(async () => {
    await Promise.all([here.close(), there.close()]);
    await upstream.stop();
    await database.close();
  });
  let normally: Behaviour;
  beforeEach(() => {
    normally = upstream.behaviour;
    upstream.received.length = 0;
  });
  afterEach(async () => {
    upstream.behaviour = normally;
    const { body } = await here.get(admin, '/v1/stops').expect(200);
    for (const { id } of body.stops) await lift(id);
  });

  const stop = async (target: object): Promise<string> => {
    const request = supertest(here.url).post('/v1/stops').set('X-API-Key', admin);
    const { body } = await request.send({ ...target, reason: 'wrong rates since noon' }).expect(201);
    return body.id;
  };
  const lift = (id: string) =>
    supertest(here.url).delete(`/v1/stops/${id}`).set('X-API-Key', admin).expect(200);
  const payAirtime = (key: string) => there.post(key, '/payouts/airtime', airtime('+254712345678'));
  const transfer = (key: string) =>
    there.post(key, '/account/transfer', { receiver: 'sub-account-1', amount: 1 });
  const remove = (key: string) =>
    there.post(key, '/account/delete-unpaid-transaction', { chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11' });

  it.each<[string, object, Asking[], Asking[]]>([
    [
      'all payouts and writes',
      { everything: true },
      [() => payAirtime(shop), () => transfer(till), () => remove(shop)],
      [],
    ],
    [
      'your client',
      { client: 'shop' },
      [() => payAirtime(shop), () => remove(shop)],
      [() => payAirtime(till)],
    ],
    [
      'POST /payouts/airtime',
      { operation: 'POST /payouts/airtime' },
      [() => payAirtime(shop), () => payAirtime(till)],
      [() => transfer(shop), () => remove(till)],
    ],
  ])('rejects requests on every instance until it is lifted: %s', async (what, target, stopped, going) => {
    const id = await stop(target);
    for (const request of stopped) {
      const { body, headers } = await request().expect(503);
      expect(body).toMatchObject({ status: 'error', code: 'stopped' });
      expect(body.error).toBe(
        `The operator has stopped ${what}. Nothing was sent. Reason: wrong rates since noon`,
      );
      expect(headers['retry-after']).toBeUndefined(); // nobody knows when it is lifted
    }
    expect(upstream.received).toEqual([]);

    for (const request of going) await request().expect(200);
    for (const key of [shop, till]) {
      await there.get(key, '/api/v0.1/wallets/list').expect(200);
      await there.post(key, '/account/transactions', {}).expect(200);
    }
    await lift(id);
    for (const request of stopped) await request().expect(200);
  });

  it('allows replays, which send nothing', async () => {
    const pay = () => payAirtime(shop).set('Idempotency-Key', 'order-17');
    const first = await pay().expect(200);
    await stop({ everything: true });
    const replay = await pay().expect(200).expect('Idempotent-Replayed', 'true');
    expect(replay.text).toBe(first.text);
    expect(upstream.received).toHaveLength(1);
  });

  it('leaves the Idempotency-Key of a rejected request free', async () => {
    const pay = () => payAirtime(shop).set('Idempotency-Key', 'order-18');
    const id = await stop({ everything: true });
    await pay().expect(503);
    await lift(id);
    await pay().expect(200);
  });

  it('lets a call in flight finish', async () => {
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => normally(...args));
    });
    const paid = payAirtime(shop).then();
    const release = await arrived;
    upstream.behaviour = normally;
    await stop({ everything: true });
    release();
    expect((await paid).status).toBe(200);
  });

  it('admits no request after its response, under load', async () => {
    const numbers = phones(10_000);
    let stopped = false;
    const after: string[] = [];
    const statuses = { before: new Set<number>(), after: new Set<number>() };
    const pay = async (proxy: TestProxy) => {
      const phone = numbers.pop() ?? '';
      const began = stopped ? 'after' : 'before';
      if (stopped) after.push(phone);
      const { status } = await proxy.post(shop, '/payouts/airtime', airtime(phone));
      statuses[began].add(status);
    };
    const worker = async (proxy: TestProxy) => {
      while (!stopped) await pay(proxy);
      for (let i = 0; i < 5; i++) await pay(proxy);
    };
    const busy = new Promise<void>((resolve) => {
      upstream.behaviour = (...args) => {
        if (upstream.received.length >= 40) resolve();
        return normally(...args);
      };
    });
    const workers = [here, there].flatMap((proxy) => Array.from({ length: 8 }, () => worker(proxy)));
    await busy;
    await stop({ client: 'shop' });
    stopped = true;
    await Promise.all(workers);

    expect(after).toHaveLength(80);
    expect(statuses.before).toContain(200);
    expect([...statuses.after]).toEqual([503]);
    const sent = new Set(upstream.received.map(phoneOf));
    expect(after.filter((phone) => sent.has(phone))).toEqual([]);
  });
});

import { ClientsService } from '../../src/access/clients/clients.service';
import supertest from '../support/http/supertest';
import { answer } from '../support/network/fake-upstream';
import { AIRTIME, PaymentScene, PHONE, startPaying } from '../support/payments/paying';

/** Every spelling of the recipient's number. */
const NUMBERS = [PHONE, PHONE.slice(1), `0${PHONE.slice(4)}`, '712345678'];
const TALKATIVE = {
  status: 'success',
  data: {
    error: 'None',
    data: [
      { chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11', id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8', phoneNumber: PHONE },
    ],
    payoutLink: `https://upstream.example/${PHONE}`,
  },
};

/** Many people use the keys of one app. Each sees only their own calls. */
describe('the calls of one app', () => {
  let paying: PaymentScene;
  let clients: ClientsService;
  let ada: string;
  let bob: string;
  let server: string;
  let payOnly: string;
  let apps = 0;

  beforeAll(async () => {
    paying = await startPaying();
    paying.upstream.behaviour = answer(200, TALKATIVE);
    clients = paying.proxy.app.get(ClientsService, { strict: false });
    await clients.create('shop', ['pay', 'write', 'read']);
    server = (await clients.issueKey('shop')).key;
    ada = (await clients.issueKey('shop', { person: 'ada' })).key;
    bob = (await clients.issueKey('shop', { person: 'bob' })).key;
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    payOnly = (await clients.create(`till-${(apps += 1)}`, ['pay'])).key;
  });

  const pay = async (key: string, headers: Record<string, string> = {}) =>
    paying.proxy.post(key, '/payouts/airtime', AIRTIME).set(headers);
  const callOf = async (key: string, headers?: Record<string, string>) =>
    (await pay(key, headers)).headers['x-call-id'] ?? '';
  const listed = async (key: string, query = '') => {
    const { body } = await paying.proxy.get(key, `/v1/calls?page_size=200${query}`).expect(200);
    return body.calls.map(({ id }) => id);
  };
  /** Status of each route to one call. */
  const statuses = async (key: string, id: string) => {
    const read = (path: string) => paying.proxy.get(key, path as '/v1/calls');
    await sealed(id);
    const paths = [`/v1/calls/${id}`, `/v1/payouts/${id}`, `/v1/payouts/${id}.0`, `/v1/calls/${id}/receipt`];
    return Promise.all(paths.map(async (path) => (await read(path)).status));
  };
  const sealed = async (id: string) => {
    worker ??= paying.proxy.startWorker();
    await worker;
    const seen = () => paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}/receipt`);
    for (let tries = 0; tries < 200 && (await seen()).status === 409; tries += 1);
  };
  let worker: Promise<unknown> | undefined;

  describe('with several people', () => {
    /** The earlier call named by a held call, in the list and alone. */
    const earlierOf = async (key: string, id: string) => {
      const { body: list } = await paying.proxy.get(key, '/v1/calls').expect(200);
      const { body } = await paying.proxy.get(key, `/v1/calls/${id}`).expect(200);
      const listed = list.calls.find((call) => call.id === id);
      return [listed, body].map((call) => call?.approval?.earlier_call_id);
    };

    it('are shown to the owner of the requesting key, and to keys without an owner', async () => {
      const hers = await callOf(ada);
      const [ok, hidden] = [
        [200, 200, 200, 200],
        [404, 404, 404, 404],
      ];
      expect(await statuses(ada, hers)).toEqual(ok);
      expect(await statuses(bob, hers)).toEqual(hidden);
      expect(await statuses(server, hers)).toEqual(ok);
      expect([(await listed(ada)).includes(hers), (await listed(bob)).includes(hers)]).toEqual([true, false]);
      expect(await listed(server)).toContain(hers);
      const shared = await callOf(server);
      expect(await statuses(ada, shared)).toEqual(hidden);
      expect(await listed(ada)).not.toContain(shared);
    });

    it("are not found by another person's idempotency key, or the upstream's reference", async () => {
      const hers = await callOf(ada, { 'Idempotency-Key': 'order-1' });
      expect(await listed(bob, '&idempotency_key=order-1')).toEqual([]);
      expect(await listed(ada, '&idempotency_key=order-1')).toEqual([hers]);
      const byReference = (key: string) =>
        paying.proxy.get(key, `/v1/payouts/${TALKATIVE.data.data[0]!.chiRef}`);
      await byReference(bob).expect(404);
      await byReference(ada).expect(200);
    });

    it('are hidden even if they were refused', async () => {
      const refused = await paying.proxy.post(ada, '/send', {}).expect(400);
      const id = refused.headers['x-call-id'] ?? '';
      await paying.proxy.get(ada, `/v1/calls/${id}`).expect(200);
      await paying.proxy.get(bob, `/v1/calls/${id}`).expect(404);
      expect(await listed(bob)).not.toContain(id);
    });

    it('belong to the person that the app names, if the key has that person', async () => {
      const forHer = await callOf(server, { 'X-Actor': 'ada' });
      expect((await statuses(ada, forHer))[0]).toBe(200);
      expect((await statuses(bob, forHer))[0]).toBe(404);
    });

    it('do not replay to another person, regardless of X-Actor', async () => {
      const headers = { 'Idempotency-Key': 'order-2' };
      const first = await pay(ada, headers);
      const sent = () =>
        paying.upstream.received.filter(({ url }) => url.endsWith('/payouts/airtime')).length;
      const sentBefore = sent();
      for (const claim of [{}, { 'X-Actor': 'ada' }]) {
        const refused = await pay(bob, { ...headers, ...claim });
        expect([refused.status, refused.body]).toMatchObject([
          422,
          { code: 'idempotency_key_reused', action: 'ask' },
        ]);
        expect(JSON.stringify(refused.body)).not.toContain('chiRef');
      }
      const preview = supertest(paying.proxy.url)
        .post('/v1/preview/payouts/airtime')
        .set({ 'X-API-Key': bob, ...headers });
      const previewed = (await preview.send(AIRTIME).expect(200)).body;
      expect(previewed).toMatchObject({
        would: 'be_refused',
        refusal: { code: 'idempotency_key_reused' },
        replay: null,
      });
      const replayed = await pay(ada, headers);
      expect([replayed.headers['idempotent-replayed'], replayed.text]).toEqual(['true', first.text]);
      expect((await pay(server, headers)).headers['idempotent-replayed']).toBe('true');
      expect(sent()).toBe(sentBefore);
    });

    it('are not found by their content, in a preview or with the same payment', async () => {
      const { key } = await clients.create('earlier', ['pay', 'read'], { holdDuplicatesDays: 3 });
      const [hers, his] = [
        await clients.issueKey('earlier', { person: 'ada' }),
        await clients.issueKey('earlier', { person: 'bob' }),
      ];
      const paid = await callOf(hers.key);
      const preview = async (apiKey: string) => {
        const request = supertest(paying.proxy.url).post('/v1/preview/payouts/airtime');
        const { duplicates, approval } = (await request.set('X-API-Key', apiKey).send(AIRTIME).expect(200))
          .body;
        return [duplicates.map(({ call_id }) => call_id), approval?.earlier_call_id];
      };
      expect(await preview(hers.key)).toEqual([[paid], paid]);
      expect(await preview(key)).toEqual([[paid], paid]);
      expect(await preview(his.key)).toEqual([[], null]);
      const held = await callOf(his.key);
      expect(await earlierOf(key, held)).toEqual([paid, paid]);
      expect(await earlierOf(his.key, held)).toEqual([null, null]);
    });
  });

  describe('with a key that can only pay', () => {
    it('hide people in the list, the call, the payout and the receipt', async () => {
      const id = await callOf(payOnly, { 'Idempotency-Key': 'till' });
      await sealed(id);
      const paths = [`/v1/calls`, `/v1/calls/${id}`, `/v1/payouts/${id}`, `/v1/calls/${id}/receipt`];
      for (const path of paths) {
        const { status, text } = await paying.proxy.get(payOnly, path as '/v1/calls');
        expect([path, status, NUMBERS.filter((number) => text.includes(number))]).toEqual([path, 200, []]);
        expect(text).not.toContain('payoutLink":"http');
      }
      const { body } = await paying.proxy.get(payOnly, `/v1/calls/${id}`).expect(200);
      expect(body).toMatchObject({ outcome: 'succeeded', items: [{ amount_usd: '2.5' }] });
    });

    it('show people once the key may read', async () => {
      const { name, key } = await clients.create('till-that-reads', ['pay']);
      const id = await callOf(key);
      await clients.update(name, { scopes: ['pay', 'read'] });
      const { text } = await paying.proxy.get(key, `/v1/calls/${id}`).expect(200);
      expect(text).toContain(PHONE);
      const masked = await paying.proxy.get(key, `/v1/calls/${id}`).set('X-People', 'masked').expect(200);
      expect(masked.text).not.toContain(PHONE);
    });
  });
});

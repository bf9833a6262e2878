import type { Answer } from '../support/http/request';
import supertest from '../support/http/supertest';
import { succeed } from '../support/network/fake-upstream';
import { airtime, eventually, PaymentScene, phoneOf, startPaying } from '../support/payments/paying';

const [FIRST, QUEUED] = ['+254712345678', '+254712345679'];

describe('a queued call', () => {
  let paying: PaymentScene;
  let admin: string;
  let approver: string;
  beforeAll(async () => {
    paying = await startPaying({ upstreamConnections: 1 });
    admin = (await paying.proxy.client('operators', 'admin')).key;
    approver = (await paying.proxy.client('approver', 'approve')).key;
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
    await paying.proxy.database.query('TRUNCATE spending');
  });

  const stop = async (target: object): Promise<string> => {
    const request = supertest(paying.proxy.url).post('/v1/stops').set('X-API-Key', admin);
    return (await request.send({ ...target, reason: 'a leak' }).expect(201)).body.id;
  };
  const lift = (id: string) =>
    supertest(paying.proxy.url).delete(`/v1/stops/${id}`).set('X-API-Key', admin).expect(200);
  const pay = (key: string, phone = QUEUED) =>
    paying.proxy.post(paying.app, '/payouts/airtime', airtime(phone)).set('Idempotency-Key', key);
  const intentsOf = (id: unknown) => paying.proxy.database.query('SELECT FROM intent WHERE id = $1', [id]);
  const spent = async () => (await paying.proxy.database.query('SELECT usd::text FROM spending'))[0]?.usd;

  /** Takes the one place that there is, lets `send` queue up, does `meanwhile`, and gives the place back. */
  async function whileQueued<Body>(
    send: () => Promise<Answer<Body>>,
    meanwhile: () => Promise<unknown>,
  ): Promise<Answer<Body>> {
    const arrived = new Promise<() => unknown>((resolve) => {
      paying.upstream.behaviour = (...args) => {
        paying.upstream.behaviour = succeed;
        resolve(() => succeed(...args));
      };
    });
    const first = paying.pay(FIRST).then((got) => got);
    const release = await arrived;
    const queued = send().then((got) => got);
    await eventually(async () => {
      const { text } = await supertest(paying.proxy.url).get('/metrics').expect(200);
      return text.includes('payout_proxy_waiting_requests{account="main"} 1');
    });
    await meanwhile();
    release();
    expect((await first).status).toBe(200);
    return queued;
  }
  const sent = () => paying.upstream.received.map(phoneOf);

  it.each([
    ['everything', { everything: true }],
    ['its client', { client: 'app' }],
    ['its operation', { operation: 'POST /payouts/airtime' }],
  ])('is not sent after a stop of %s, and its key and amount are released', async (_what, target) => {
    const key = JSON.stringify(target).replace(/\W/g, '');
    let id = '';
    const got = await whileQueued(
      () => pay(key),
      async () => (id = await stop(target)),
    );
    expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([503, 'stopped', undefined]);
    expect(sent()).toEqual([FIRST]);
    expect(await intentsOf(got.headers['x-call-id'])).toEqual([]);
    expect(Number(await spent())).toBe(2.5);
    await lift(id);
    expect((await pay(key).expect(200)).headers['idempotent-replayed']).toBeUndefined();
    expect(sent()).toEqual([FIRST, QUEUED]);
  });

  it('is sent after an unrelated stop', async () => {
    let id = '';
    const got = await whileQueued(
      () => pay('other'),
      async () => (id = await stop({ client: 'approver' })),
    );
    await lift(id);
    expect(got.status).toBe(200);
    expect(sent()).toEqual([FIRST, QUEUED]);
  });

  it('is not approved after a stop of its client', async () => {
    const { database, url } = paying.proxy;
    await database.query("UPDATE client SET approval_over_usd = 3 WHERE name = 'app'");
    const body = { airtimes: [{ ...airtime(QUEUED).airtimes[0], valueInUSD: 4 }] };
    const held = await paying.proxy.post(paying.app, '/payouts/airtime', body).expect(202);
    let id = '';
    const { status, body: refused } = await whileQueued(
      () =>
        supertest(url)
          .post(`/v1/approvals/${held.body.call_id}/approve`)
          .set('X-API-Key', approver)
          .send({ reason: 'agreed' }),
      async () => (id = await stop({ client: 'app' })),
    );
    await lift(id);
    expect([status, refused.code]).toEqual([503, 'stopped']);
    expect(sent()).toEqual([FIRST]);
    const left = supertest(url).get(`/v1/approvals/${held.body.call_id}`).set('X-API-Key', approver);
    expect((await left.expect(200)).body.approval?.status).toBe('pending');
  });
});

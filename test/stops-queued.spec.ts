import { ACTIVE_STOPS } from '../src/journal/stops';
import { PrismaService } from '../src/platform/database/prisma.service';
import { answer } from './support/fake-upstream';
import { airtime, eventually, Paying, phoneOf, startPaying, SUCCESS } from './support/paying';
import supertest from './support/supertest';
import type { Answer } from './support/request';

const [FIRST, QUEUED] = ['+254712345678', '+254712345679'];

describe('an admitted call that waits for its turn', () => {
  let paying: Paying;
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
    paying.upstream.behaviour = answer(200, SUCCESS);
    await paying.proxy.database.query('TRUNCATE spending');
  });
  afterEach(() => jest.restoreAllMocks());

  const stop = async (target: object): Promise<string> => {
    const request = supertest(paying.proxy.url).post('/v1/stops').set('X-API-Key', admin);
    return (await request.send({ ...target, reason: 'a leak' }).expect(201)).body.id;
  };
  const lift = (id: string) =>
    supertest(paying.proxy.url).delete(`/v1/stops/${id}`).set('X-API-Key', admin).expect(200);
  const pay = (key: string, phone = QUEUED) =>
    paying.proxy.post(paying.app, '/payouts/airtime', airtime(phone)).set('Idempotency-Key', key);
  const outcomeOf = async (id: unknown) =>
    (
      await paying.proxy.database.query(
        "SELECT kind, record::json ->> 'failure' AS failure FROM outcome WHERE intent_id = $1",
        [id],
      )
    )[0];
  const spent = async () => (await paying.proxy.database.query('SELECT usd::text FROM spending'))[0]?.usd;

  /** Takes the one place that there is, lets `send` queue up, does `meanwhile`, and gives the place back. */
  async function whileQueued<Body>(
    send: () => Promise<Answer<Body>>,
    meanwhile: () => Promise<unknown>,
  ): Promise<Answer<Body>> {
    const arrived = new Promise<() => unknown>((resolve) => {
      paying.upstream.behaviour = (...args) => {
        paying.upstream.behaviour = answer(200, SUCCESS);
        resolve(() => answer(200, SUCCESS)(...args));
      };
    });
    const first = paying.pay(FIRST).then((got) => got);
    const release = await arrived;
    const queued = send().then((got) => got);
    await eventually(async () => {
      const { text } = await supertest(paying.proxy.url).get('/metrics').expect(200);
      return text.includes('payout_proxy_upstream_queue_length 1');
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
  ])('is not sent if %s has been stopped meanwhile, and its key and its money are free', async (_what, target) => {
    const key = JSON.stringify(target).replace(/\W/g, '');
    let id = '';
    const got = await whileQueued(
      () => pay(key),
      async () => (id = await stop(target)),
    );
    expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([503, 'stopped', undefined]);
    expect(sent()).toEqual([FIRST]);
    expect(await outcomeOf(got.headers['x-call-id'])).toEqual({ kind: 'not_sent', failure: 'stopped' });
    expect(Number(await spent())).toBe(2.5);
    await lift(id);
    expect((await pay(key).expect(200)).headers['idempotent-replayed']).toBeUndefined();
    expect(sent()).toEqual([FIRST, QUEUED]);
  });

  it('is sent if something else has been stopped', async () => {
    let id = '';
    const got = await whileQueued(
      () => pay('other'),
      async () => (id = await stop({ client: 'approver' })),
    );
    await lift(id);
    expect(got.status).toBe(200);
    expect(sent()).toEqual([FIRST, QUEUED]);
  });

  it('is not sent if it was approved and its client is stopped', async () => {
    const { database, url } = paying.proxy;
    await database.query("UPDATE client SET approval_over_usd = 3 WHERE name = 'app'");
    const body = { airtimes: [{ ...airtime(QUEUED).airtimes[0], valueInUSD: 4 }] };
    const held = await paying.proxy.post(paying.app, '/payouts/airtime', body).expect(202);
    let id = '';
    const { status, body: record } = await whileQueued(
      () =>
        supertest(url)
          .post(`/v1/approvals/${held.body.call_id}/approve`)
          .set('X-API-Key', approver)
          .send({ reason: 'agreed' }),
      async () => (id = await stop({ client: 'app' })),
    );
    await lift(id);
    expect([status, record.outcome, record.upstream?.failure]).toEqual([200, 'not_sent', 'stopped']);
    expect(sent()).toEqual([FIRST]);
    expect(Number(await spent())).toBe(2.5);
  });

  it('is not sent if the stops cannot be read', async () => {
    const prisma = paying.proxy.app.get(PrismaService);
    const query = prisma.$queryRaw.bind(prisma);
    const asked = jest.fn(() => Promise.reject(new Error('no database')) as ReturnType<typeof query>);
    jest
      .spyOn(prisma, '$queryRaw')
      .mockImplementation((sql, ...values) => (sql === ACTIVE_STOPS ? asked() : query(sql, ...(values as unknown[]))));
    const got = await whileQueued(
      () => pay('unsure'),
      () => Promise.resolve(),
    );
    expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([503, 'database_unavailable', '1']);
    expect(got.body.error).toMatch(/was not sent/i);
    expect(sent()).toEqual([FIRST]);
    expect(asked).toHaveBeenCalledTimes(1); // not for the first, which did not wait
    expect(await outcomeOf(got.headers['x-call-id'])).toEqual({ kind: 'not_sent', failure: 'stop_unknown' });
    jest.restoreAllMocks();
    await pay('unsure').expect(200);
  });
});

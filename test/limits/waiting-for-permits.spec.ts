import { request } from 'node:http';
import { FenceService } from '../../src/continuity/fence/fence.service';
import { AdaptiveLimit } from '../../src/gateway/admission-control/adaptive-limit';
import { LoadShedder } from '../../src/gateway/admission-control/load-shedder';
import { Arrivals } from '../../src/http/connections/arrivals';
import supertest from '../support/http/supertest';
import { succeed } from '../support/network/fake-upstream';
import { AIRTIME, airtime, eventually, PaymentScene, phones, startPaying } from '../support/payments/paying';

/** Longer than any duration on a busy machine. */
const PATIENT = { Prefer: 'wait=120' };

/** Requests that wait for a permit, because the upstream has all that the proxy may send at once. */
describe('a request without a free permit', () => {
  let paying: PaymentScene;
  let operator: string;
  /** Releases of the requests that the upstream has. */
  let held: (() => unknown)[];

  beforeAll(async () => {
    paying = await startPaying({ upstreamConnections: 2, requestDeadlineMs: 30_000 });
    operator = (await paying.proxy.client('operator', 'admin')).key;
  });
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    held = [];
    paying.upstream.behaviour = (...args) => held.push(() => succeed(...args));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    release();
  });

  // Equal payments would be suspected duplicates.
  let used = 0;
  const newPhones = (count: number) => phones((used += count)).slice(-count);
  const newPhone = () => newPhones(1)[0] ?? '';

  const waiting = async () => {
    const { text } = await supertest(paying.proxy.url).get('/metrics').expect(200);
    return Number(/payout_proxy_waiting_requests\{account="main"\} (\d+)/.exec(text)?.[1]);
  };
  const release = (): void => {
    paying.upstream.behaviour = succeed;
    for (const one of held.splice(0)) one();
  };

  /** Sends two payments that take all permits. Resolves once the upstream has them. */
  async function fill(): Promise<Promise<number>[]> {
    const first = newPhones(2).map((phone) => paying.pay(phone).then(({ status }) => status));
    await eventually(() => held.length === 2);
    return first;
  }

  const recordsOf = async (phone: string) => {
    const { proxy } = paying;
    const rows = await proxy.database.query(
      `SELECT FROM intent_body WHERE convert_from(body, 'UTF8') LIKE '%' || $1 || '%'`,
      [phone],
    );
    return rows.length;
  };

  it('waits for its turn, and is sent long after the deadline for the database has passed', async () => {
    void (await fill());
    const all = newPhones(2);
    const answers = all.map((phone) => paying.pay(phone).set(PATIENT));
    const statuses = Promise.all(answers.map((answer) => answer.then(({ status }) => status)));
    await eventually(async () => (await waiting()) === all.length);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
    release();
    expect(await statuses).toEqual(all.map(() => 200));
    expect(new Set(paying.upstream.received.map(({ body }) => body)).size).toBe(4);
    const [first] = await Promise.all(answers);
    expect(first?.headers['server-timing']).toMatch(/^queue;dur=3\d{4}/);
  });

  it('is refused at once if it has waited as long as it may before it began', async () => {
    const first = await fill();
    const now = performance.now.bind(performance);
    jest.spyOn(Arrivals.prototype, 'turn').mockImplementationOnce((begin) => {
      jest.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
      begin();
    });
    const { headers } = await paying.pay(newPhone()).set('Prefer', 'wait=30').expect(503);
    expect(headers['server-timing']).toMatch(/^queue;dur=3\d{4}/);
    release();
    expect(await Promise.all(first)).toEqual([200, 200]);
  });

  it('is refused at once with the preference to wait for no time, and nothing is recorded', async () => {
    const first = await fill();
    const phone = newPhone();
    const refused = await paying.pay(phone).set('Prefer', 'return=minimal, wait=0').expect(503);
    expect(refused.body).toMatchObject({ code: 'overloaded', action: 'retry_same_key' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    await paying.pay(phone).set('Prefer', 'wait=1').expect(503); // after a second at most
    expect([await recordsOf(phone), await waiting()]).toEqual([0, 0]);
    release();
    await Promise.all(first);
  });

  it('leaves the queue when its caller disconnects, and nothing is recorded or sent', async () => {
    const first = await fill();
    const [phone, next] = [newPhone(), newPhone()];
    const leaving = request(`${paying.proxy.url}/api/v0.1/payouts/airtime`, {
      method: 'POST',
      headers: { 'X-API-Key': paying.app, 'Content-Type': 'application/json', ...PATIENT },
    });
    leaving.on('error', () => undefined);
    leaving.end(JSON.stringify(airtime(phone)));
    const paid = paying
      .pay(next)
      .set(PATIENT)
      .then(({ status }) => status);
    await eventually(async () => (await waiting()) === 2);
    leaving.destroy();
    await eventually(async () => (await waiting()) === 1);
    release();
    expect(await Promise.all([...first, paid])).toEqual([200, 200, 200]);
    expect([paying.upstream.received.length, await recordsOf(phone)]).toEqual([3, 0]);
  });

  it.each<[string, string, () => Promise<() => unknown>]>([
    [
      'a stop',
      'stopped',
      async () => {
        const stops = () => supertest(paying.proxy.url);
        const { body } = await stops()
          .post('/v1/stops')
          .set('X-API-Key', operator)
          .send({ everything: true, reason: 'an incident' })
          .expect(201);
        return () => stops().delete(`/v1/stops/${body.id}`).set('X-API-Key', operator).expect(200);
      },
    ],
    [
      'a fence',
      'instance_fenced',
      () => {
        const fence = paying.proxy.app.get(FenceService);
        fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
        return Promise.resolve(() => fence.lower('clock_skewed'));
      },
    ],
  ])('obeys %s that came while it waited', async (_obstacle, code, raise) => {
    const first = await fill();
    const late = paying
      .pay(phones(3)[2])
      .set(PATIENT)
      .then(({ status, body }) => [status, body.code]);
    await eventually(async () => (await waiting()) === 1);
    const lift = await raise();
    release();
    expect(await late).toEqual([503, code]);
    await lift();
    await Promise.all(first);
    expect(paying.upstream.received).toHaveLength(2);
  });

  it.each(['pay', 'read'] as const)(
    'is refused if its key was revoked before its turn to %s',
    async (act) => {
      const first = await fill();
      const { key, id } = await paying.proxy.client(`leaver-${act}`, 'pay', 'read', 'account');
      const send = {
        pay: () => paying.proxy.post(key, '/payouts/airtime', AIRTIME),
        read: () => paying.proxy.get(key, '/api/v0.1/wallets/list'),
      };
      const late = send[act]()
        .set(PATIENT)
        .then(({ status, body }) => [status, body.code]);
      await eventually(async () => (await waiting()) === 1);
      await paying.proxy.database.query('UPDATE api_key SET revoked_at = now() WHERE client_id = $1', [id]);
      release();
      expect(await late).toEqual([401, 'invalid_key']);
      await Promise.all(first);
      expect(paying.upstream.received).toHaveLength(2);
    },
  );

  it('says how long others would wait', async () => {
    const first = await fill();
    const expected = jest.spyOn(LoadShedder.prototype, 'expectedWaitMs', 'get').mockReturnValue(2_500);
    const { text } = await supertest(paying.proxy.url).get('/metrics').expect(200);
    expect(text).toContain('payout_proxy_expected_wait_seconds{account="main"} 2.5');
    expected.mockRestore();
    release();
    await Promise.all(first);
  });

  // the last one, because it takes the database for a failing one
  it('has waited for the database while that did not answer, so its deadline passes', async () => {
    const first = await fill();
    const late = paying
      .pay(newPhone())
      .set(PATIENT)
      .then(({ status }) => status);
    await eventually(async () => (await waiting()) === 1);
    jest.spyOn(AdaptiveLimit.prototype, 'unansweredMs', 'get').mockReturnValue(29_999);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    release();
    expect(await late).toBe(503);
    expect(paying.upstream.received).toHaveLength(2);
    await Promise.all(first);
  });
});

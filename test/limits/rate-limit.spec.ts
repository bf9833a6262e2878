import { SidePrisma } from '../../src/platform/database/pools/side-prisma';
import type { Answer } from '../support/http/request';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

const WALLETS = '/api/v0.1/wallets/list';

/** How many requests a client may make in a minute, over all instances. */
describe('the rate limit', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let twin: TestProxy;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    twin = await startProxy({ upstreamBaseUrl: upstream.url }, proxy.database);
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await twin.close();
    await proxy.close();
    await upstream.stop();
  });

  /** A client's key. */
  async function limited(name: string, requestsPerMinute: number): Promise<string> {
    const { key } = await proxy.client(name, 'pay', 'read', 'account');
    await setLimit(name, requestsPerMinute);
    return key;
  }
  const setLimit = (name: string, requestsPerMinute: number | null) =>
    proxy.database.query('UPDATE client SET requests_per_minute = $2 WHERE name = $1', [
      name,
      requestsPerMinute,
    ]);
  const rewind = (name: string, seconds: number) =>
    proxy.database.query(
      `UPDATE request_window SET started_at = now() - $2 * interval '1 s'
       WHERE client_id = (SELECT id FROM client WHERE name = $1)`,
      [name, seconds],
    );
  const recorded = async (name: string) =>
    (await proxy.get(auditor, `/v1/audit/calls?outcome=refused&client=${name}`).expect(200)).body.calls;

  it('counts down in every response including errors, and then returns 429 with Retry-After', async () => {
    const key = await limited('counted', 3);
    const answers = [
      await proxy.get(key, WALLETS).expect(200),
      await proxy.post(key, '/payouts/airtime', {}).expect(400),
      await twin.get(key, '/v1/nothing').expect(404),
      await twin.get(key, WALLETS).expect(429),
    ];
    expect(answers.map(({ headers }) => headers['ratelimit-policy'])).toEqual(
      Array(4).fill('"requests";q=3;w=60'),
    );
    expect(
      answers.map(({ headers }) => /^"requests";r=(\d+);t=\d+$/.exec(headers.ratelimit ?? '')?.[1]),
    ).toEqual(['2', '1', '0', '0']);
    const { headers, body } = answers[3] as Answer;
    const seconds = Number(headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(headers.ratelimit).toBe(`"requests";r=0;t=${seconds}`);
    expect(body).toMatchObject({ status: 'error', code: 'rate_limited', call_id: headers['x-call-id'] });
  });

  it('resets a minute after the first request', async () => {
    const key = await limited('again', 1);
    await proxy.get(key, WALLETS).expect(200);
    await proxy.get(key, WALLETS).expect(429);
    await rewind('again', 30);
    const { headers } = await proxy.get(key, WALLETS).expect(429);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(30);
    await rewind('again', 61);
    await proxy.get(key, WALLETS).expect(200).expect('RateLimit', '"requests";r=0;t=60');
    await proxy.get(key, WALLETS).expect(429);
  });

  it('ignores a client without a limit, and applies a change at once', async () => {
    const { key, id } = await proxy.client('changing', 'read', 'account');
    const { headers } = await proxy.get(key, WALLETS).expect(200);
    expect([headers.ratelimit, headers['ratelimit-policy']]).toEqual([undefined, undefined]);
    expect(await proxy.database.query('SELECT 1 FROM request_window WHERE client_id = $1', [id])).toEqual([]);
    await setLimit('changing', 1);
    await proxy.get(key, WALLETS).expect(200);
    await twin.get(key, WALLETS).expect(429);
    await setLimit('changing', 3);
    await proxy.get(key, WALLETS).expect(200);
    await setLimit('changing', null);
    for (let more = 0; more < 3; more++) await proxy.get(key, WALLETS).expect(200);
  });

  it('is never exceeded on two proxies, with the first refusal recorded and all counted', async () => {
    const key = await limited('burst', 50);
    const sentBefore = upstream.received.length;
    const countedBefore = await counted();
    const statuses = await Promise.all(
      Array.from(
        { length: 120 },
        async (_, index) => (await (index % 2 ? proxy : twin).get(key, WALLETS)).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(70);
    expect(upstream.received.length - sentBefore).toBe(50);
    expect(await recorded('burst')).toEqual([
      expect.objectContaining({
        outcome: 'refused',
        refusal: expect.objectContaining({ code: 'rate_limited' }),
      }),
    ]);
    await rewind('burst', 61);
    await Promise.all(Array.from({ length: 60 }, () => proxy.get(key, WALLETS)));
    expect(await recorded('burst')).toHaveLength(2); // one for each minute
    expect((await counted()) - countedBefore).toBe(70 + 10);
  });

  /** Refused for their number, by both proxies' metrics. */
  async function counted(): Promise<number> {
    const texts = await Promise.all(
      [proxy, twin].map(async ({ url }) => (await supertest(url).get('/metrics')).text),
    );
    const found = texts.map(
      (text) => /^payout_proxy_problems_total\{code="rate_limited"\} (\d+)$/m.exec(text)?.[1],
    );
    return Number(found[0] ?? 0) + Number(found[1] ?? 0);
  }

  it('refuses requests while the database cannot count them', async () => {
    const key = await limited('unavailable', 5);
    const prisma = proxy.app.get(SidePrisma, { strict: false });
    const ask = prisma.prepared.bind(prisma);
    const query = jest
      .spyOn(prisma, 'prepared')
      .mockImplementation((name: string, ...others: [string, unknown[]]) =>
        name === 'count_requests' ? Promise.reject(new Error('gone')) : ask(name, ...others),
      );
    const { body } = await proxy.get(key, WALLETS).expect(503).expect('Retry-After', '1');
    expect(body.code).toBe('database_unavailable');
    query.mockRestore();
    await proxy.get(key, WALLETS).expect(200);
  });
});

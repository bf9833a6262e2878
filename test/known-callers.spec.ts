import { PrismaService } from '../src/platform/database/prisma.service';
import { FakeUpstream } from './support/fake-upstream';
import { eventually } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';

/**
 * Callers are remembered between their requests. Nobody tells the proxy about the changes that these tests make, so
 * only admission can notice them.
 */
describe('a remembered caller', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  /** Changes the database past its triggers, which would notify the proxy. */
  const changeQuietly = (sql: string) =>
    proxy.database.query(`SET session_replication_role = replica; ${sql}; SET session_replication_role = DEFAULT`);

  const pay = (key: string, usd = 1) =>
    proxy.post(key, '/payouts/airtime', {
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: usd }],
    });

  async function rememberedClient(name: string): Promise<{ id: string; key: string }> {
    const client = await proxy.client(name, 'pay');
    await pay(client.key).expect(200);
    await pay(client.key).expect(200);
    return client;
  }

  async function expectNothingSent(asking: () => Promise<unknown>): Promise<void> {
    const before = upstream.received.length;
    await asking();
    expect(upstream.received.length).toBe(before);
  }

  it('is not looked up again', async () => {
    const { key } = await proxy.client('frequent', 'pay');
    const prepared = jest.spyOn(proxy.app.get(PrismaService, { strict: false }), 'prepared');
    const lookUps = () => prepared.mock.calls.filter(([name]) => name === 'find_keys').length;
    // The notification of its creation may come after its first request.
    await eventually(async () => {
      const before = lookUps();
      await pay(key).expect(200);
      return lookUps() === before;
    });
    const before = lookUps();
    expect(before).toBeGreaterThan(0);
    for (let time = 0; time < 5; time += 1) await pay(key).expect(200);
    expect(lookUps()).toBe(before);
    prepared.mockRestore();
  });

  it('is refused with 401 once its key is revoked', async () => {
    const { id, key } = await rememberedClient('revoked');
    await changeQuietly(`UPDATE api_key SET revoked_at = now() WHERE client_id = '${id}'`);
    await expectNothingSent(() => pay(key).expect(401));
  });

  it('is refused with 401 once its key has expired', async () => {
    const { id, key } = await rememberedClient('expired');
    await changeQuietly(`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE client_id = '${id}'`);
    await expectNothingSent(() => pay(key).expect(401));
  });

  it.each([
    ['scope_missing', "scopes = '{read}'"],
    ['operation_not_allowed', "operations = '{POST /payouts/credit}'"],
    ['address_not_allowed', "addresses = '{192.0.2.0/24}'"],
    ['cap_exceeded', 'daily_cap_usd = 2'],
    ['idempotency_key_required', 'require_idempotency_key = TRUE'],
    ['country_not_allowed', "countries = '{Ghana}'"],
  ])('is refused with %s once its client may not pay this any more', async (code, change) => {
    const { id, key } = await rememberedClient(code.replaceAll('_', '-'));
    await changeQuietly(`UPDATE client SET ${change} WHERE id = '${id}'`);
    await expectNothingSent(async () => expect((await pay(key)).body).toMatchObject({ code }));
  });

  it('pays within new limits that nobody told the proxy about', async () => {
    const { id, key } = await rememberedClient('looser');
    await changeQuietly(`UPDATE client SET max_item_usd = 500 WHERE id = '${id}'`);
    await pay(key, 400).expect(200);
  });

  it('is looked up again as soon as its client has changed', async () => {
    const { id, key } = await rememberedClient('told');
    await proxy.database.query('UPDATE client SET max_item_usd = 5 WHERE id = $1', [id]);
    await expectNothingSent(async () => expect((await pay(key, 6)).body).toMatchObject({ code: 'cap_exceeded' }));
    await proxy.database.query('UPDATE client SET max_item_usd = 50 WHERE id = $1', [id]);
    await eventually(async () => (await pay(key, 6)).status === 200);
  });

  it('is looked up each time while notifications do not arrive', async () => {
    const { id, key } = await rememberedClient('deaf');
    await proxy.database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
    );
    await changeQuietly(`UPDATE client SET max_item_usd = 0.5 WHERE id = '${id}'`);
    await expectNothingSent(async () => expect((await pay(key)).body).toMatchObject({ code: 'cap_exceeded' }));
  });
});

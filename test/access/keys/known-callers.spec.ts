import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** The tests change the database directly, and admission must notice it for cached callers. */
describe('a cached caller', () => {
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

  async function expectNothingSent(request: () => Promise<unknown>): Promise<void> {
    const before = upstream.received.length;
    await request();
    expect(upstream.received.length).toBe(before);
  }

  it('is not queried again', async () => {
    const { key } = await proxy.client('frequent', 'pay');
    const prepared = jest.spyOn(proxy.app.get(PrismaService, { strict: false }), 'prepared');
    const lookUps = () => prepared.mock.calls.filter(([name]) => name === 'find_keys').length;
    await pay(key).expect(200);
    const before = lookUps();
    expect(before).toBeGreaterThan(0);
    for (let time = 0; time < 5; time += 1) await pay(key).expect(200);
    expect(lookUps()).toBe(before);
    prepared.mockRestore();
  });

  it('is refused with 401 once its key is revoked', async () => {
    const { id, key } = await rememberedClient('revoked');
    await proxy.database.query(`UPDATE api_key SET revoked_at = now() WHERE client_id = '${id}'`);
    await expectNothingSent(() => pay(key).expect(401));
  });

  it('is refused with 401 after its key has expired', async () => {
    const { id, key } = await rememberedClient('expired');
    await proxy.database.query(
      `UPDATE api_key SET expires_at = now() - interval '1 second' WHERE client_id = '${id}'`,
    );
    await expectNothingSent(() => pay(key).expect(401));
  });

  it.each([
    ['scope_missing', "scopes = '{read}'"],
    ['operation_not_allowed', "operations = '{POST /payouts/credit}'"],
    ['address_not_allowed', "addresses = '{192.0.2.0/24}'"],
    ['cap_exceeded', 'daily_cap_usd = 2'],
    ['idempotency_key_required', 'require_idempotency_key = TRUE'],
    ['country_not_allowed', "countries = '{Ghana}'"],
  ])('is refused with %s after its client loses the permission', async (code, change) => {
    const { id, key } = await rememberedClient(code.replaceAll('_', '-'));
    await proxy.database.query(`UPDATE client SET ${change} WHERE id = '${id}'`);
    await expectNothingSent(async () => expect((await pay(key)).body).toMatchObject({ code }));
  });

  it.each([
    ['scope', "scopes = '{read}'", "scopes = '{pay}'"],
    ['operation', "operations = '{POST /payouts/credit}'", 'operations = NULL'],
    ['address', "addresses = '{192.0.2.0/24}'", "addresses = '{}'"],
    ['cap', 'daily_cap_usd = 1', 'daily_cap_usd = 100'],
    ['limit of a payout', 'max_item_usd = 0.5', 'max_item_usd = 50'],
    ['country', "countries = '{Ghana}'", "countries = '{Kenya}'"],
  ])('refused for its %s pays after the client gets the permission', async (right, refusing, allowing) => {
    const { id, key } = await rememberedClient(`allowed-${right.replaceAll(' ', '-')}`);
    await proxy.database.query(`UPDATE client SET ${refusing} WHERE id = '${id}'`);
    await expectNothingSent(() => pay(key).expect(403));
    await proxy.database.query(`UPDATE client SET ${allowing} WHERE id = '${id}'`);
    await pay(key).expect(200);
  });

  it('counts against a new rate limit from the second request until the limit is removed', async () => {
    const { id, key } = await rememberedClient('counted');
    await proxy.database.query(`UPDATE client SET requests_per_minute = 1 WHERE id = '${id}'`);
    await pay(key).expect(200);
    await pay(key).expect(200);
    await expectNothingSent(() => pay(key).expect(429));
    await proxy.database.query(`UPDATE client SET requests_per_minute = NULL WHERE id = '${id}'`);
    await pay(key).expect(200);
  });

  it('pays with rights granted after it was cached', async () => {
    const { id, key } = await rememberedClient('extended');
    await proxy.database.query(`UPDATE client SET max_item_usd = 2 WHERE id = '${id}'`);
    await pay(key, 1).expect(200);
    await proxy.database.query(`UPDATE client SET max_item_usd = 50 WHERE id = '${id}'`);
    await pay(key, 6).expect(200);
  });
});

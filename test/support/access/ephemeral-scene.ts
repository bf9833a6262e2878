import { createTestDatabase, TestDatabase } from '../databases/test-database';
import { FakeUpstream, succeed } from '../network/fake-upstream';
import { PHONE } from '../payments/paying';
import { startProxy, TestProxy } from '../processes/proxy';

/** Two proxies with one database, in front of an upstream that counts arrivals. */
export class EphemeralScene {
  private clients = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly upstream: FakeUpstream,
    readonly proxy: TestProxy,
    readonly twin: TestProxy,
  ) {}

  static async start(): Promise<EphemeralScene> {
    const database = await createTestDatabase();
    const upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    const settings = { upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] };
    const [proxy, twin] = [await startProxy(settings, database), await startProxy(settings, database)];
    return new EphemeralScene(database, upstream, proxy, twin);
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.twin.close();
    await this.upstream.stop();
    await this.database.close();
  }

  /** Creates a client with the scopes of an app, and some that ephemeral keys never have. */
  app() {
    const scopes = ['pay', 'write', 'read', 'account', 'audit', 'admin'] as const;
    return this.proxy.client(`app-${(this.clients += 1)}`, ...scopes);
  }

  change(clientId: string, columns: string) {
    return this.database.query(`UPDATE client SET ${columns} WHERE id = '${clientId}'`);
  }

  pay(key: string, { usd = 1, country = 'Kenya', phone = PHONE, by = this.proxy } = {}) {
    const airtimes = [{ countryToSend: country, phoneNumber: phone, valueInUSD: usd }];
    return by.post(key, '/payouts/airtime', { airtimes });
  }

  async expectNothingSent(request: () => PromiseLike<{ body: object }>, code: string): Promise<void> {
    const before = this.upstream.received.length;
    expect((await request()).body).toMatchObject({ code });
    expect(this.upstream.received.length).toBe(before);
  }
}

import { randomUUID } from 'node:crypto';
import { RunningConfig } from '../../../src/platform/config/config';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import supertest from '../http/supertest';
import { Behaviour, FakeUpstream, succeed } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';
import { airtime, phones } from './paying';

export const FEE_OPERATION = 'POST /payouts/airtime';
const FEE_PATH = '/payouts/airtime';

/** Pays with a fee per payout. Without a fee, the answer omits it. */
export const paysFor = (fee?: number): Behaviour => {
  return (request, response, socket) => {
    // a preview asks for rates
    if (request.body === '') return succeed(request, response, socket);
    const { airtimes } = JSON.parse(request.body) as { airtimes: object[] };
    const paid = airtimes.map((item) => {
      const named = { ...item, id: randomUUID(), chiRef: randomUUID(), status: 'paid' };
      return { ...named, ...(fee !== undefined && { fee }) };
    });
    const data = { error: 'None', data: paid, payouts: [] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', data }));
  };
};

/** A database, an upstream that charges fees, and the instances of a test. */
export class FeeScene {
  readonly proxies: TestProxy[] = [];
  private clients = 0;
  private readonly numbers = phones(1_000).values();

  private constructor(
    readonly database: TestDatabase,
    readonly upstream: FakeUpstream,
  ) {}

  static async start(): Promise<FeeScene> {
    const upstream = await FakeUpstream.start();
    upstream.behaviour = paysFor();
    return new FeeScene(await createTestDatabase(), upstream);
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies) await proxy.close();
    await this.upstream.stop();
    await this.database.close();
  }

  /** Starts an instance with the rules for fees of the operation. */
  running(...fees: string[]): Promise<TestProxy> {
    return this.runningWith({ upstreamFees: new Map(fees.map((fee) => [FEE_OPERATION, fee])) });
  }

  async runningWith(settings: Partial<RunningConfig>): Promise<TestProxy> {
    const base = { upstreamBaseUrl: this.upstream.url, upstreamTimeoutMs: 400, checkCoverage: false };
    const proxy = await startProxy({ ...base, ...settings }, this.database);
    this.proxies.push(proxy);
    return proxy;
  }

  async client(proxy: TestProxy, capUsd: number, approvalOverUsd: number | null = null) {
    const { id, key } = await proxy.client(`app-${(this.clients += 1)}`, 'pay', 'read');
    await this.database.query('UPDATE client SET daily_cap_usd = $2, approval_over_usd = $3 WHERE id = $1', [
      id,
      capUsd,
      approvalOverUsd,
    ]);
    return { id, key };
  }

  pay(proxy: TestProxy, key: string, ...usd: number[]) {
    return proxy.post(key, FEE_PATH, this.bodyOf(...usd));
  }

  /** Makes paid calls with one payout each. */
  async payTimes(calls: number, proxy: TestProxy, key: string, ...usd: number[]): Promise<void> {
    for (let call = 0; call < calls; call += 1) await this.pay(proxy, key, ...usd).expect(200);
  }

  own(proxy: TestProxy, key: string, path: string, body: object) {
    return supertest(proxy.url).post(path).set('X-API-Key', key).send(body);
  }

  preview(proxy: TestProxy, key: string, usd: number) {
    return this.own(proxy, key, `/v1/preview${FEE_PATH}`, this.bodyOf(usd)).expect(200);
  }

  /** Returns the expected fee of a payout. Null if none is expected. */
  async expected(proxy: TestProxy, key: string, usd: number): Promise<string | null> {
    const { body } = await this.preview(proxy, key, usd);
    return (body as { fee_usd: string | null }).fee_usd;
  }

  async spent(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ usd: string }>(
      'SELECT usd::float8::text AS usd FROM spending WHERE client_id = $1',
      [id],
    );
    return row?.usd;
  }

  private bodyOf(...amounts: number[]) {
    return {
      airtimes: amounts.flatMap((valueInUSD) =>
        airtime(this.numbers.next().value ?? '').airtimes.map((item) => ({ ...item, valueInUSD })),
      ),
    };
  }
}

import { Decimal } from 'decimal.js';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { dataIn } from '../support/sandbox/sandbox-answers';

/** The main job end to end: an app pays through the proxy, and an auditor reads the record. */
describe('a payout and its audit trail', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let app: string;
  let auditor: string;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox();
    app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
    auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
  });
  afterAll(() => proxy.close());

  async function airtimeBalance(): Promise<Decimal> {
    const answer = await proxy.get(app, '/api/v0.1/wallets/list').expect(200);
    return new Decimal(dataIn('GET /wallets/list', answer).find(({ type }) => type === 'airtime')!.balance);
  }

  it('returns the response, moves exactly the amount, and records client, items and outcome', async () => {
    const before = await airtimeBalance();
    const paid = await proxy
      .post(app, '/payouts/airtime', {
        airtimes: [
          { countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 0.1 },
          { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 0.2 },
        ],
      })
      .expect(200);
    expect(paid.body.status).toBe('success');
    expect(before.minus(await airtimeBalance()).toFixed()).toBe('0.3');

    const { body } = await proxy
      .get(auditor, '/v1/audit/calls?operation=POST%20/payouts/airtime')
      .expect(200);
    expect(body.calls).toHaveLength(1);
    const [call] = body.calls;
    expect(call).toMatchObject({
      id: paid.headers['x-call-id'],
      outcome: 'succeeded',
      total_usd: '0.3',
      item_count: 2,
    });
    expect(call?.client.name).toBe('app');
    expect(call?.upstream?.status).toBe(200);
    expect(call?.items.map((item) => [item.recipient.phone, item.country, item.amount_usd])).toEqual([
      ['+2348012345678', 'Nigeria', '0.1'],
      ['+254712345678', 'Kenya', '0.2'],
    ]);
    expect(call?.items.map((item) => item.upstream!.upstream_ref)).toEqual(
      dataIn('POST /payouts/airtime', paid).data.map((transaction) => transaction.chiRef),
    );
    const { received_at, sent_at, answered_at, upstream_ms } = call!.timings;
    expect(received_at <= sent_at! && sent_at! <= answered_at!).toBe(true);
    expect(upstream_ms).toBeGreaterThan(0);
  });

  it.each(['mine-17', '4bf92f3577b34da6a3ce929d0e0e4736'])(
    'uses the X-Request-Id %s of the caller',
    async (id) => {
      const { headers } = await proxy.get(app, '/api/v0.1/wallets/list').set('X-Request-Id', id).expect(200);
      expect(headers['x-request-id']).toBe(id);
    },
  );

  it.each(['+2348012345678', 'ada@example.com', 'x'.repeat(129)])(
    'replaces the X-Request-Id %s with a generated one',
    async (id) => {
      const { headers } = await proxy.get(app, '/api/v0.1/wallets/list').set('X-Request-Id', id).expect(200);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

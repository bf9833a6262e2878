import { Decimal } from 'decimal.js';
import { ClientsService } from '../src/clients/clients.service';
import { startProxy, TestProxy } from './support/proxy';

/** What is left: of caps, and of what table `spending` says. */
describe('GET /v1/limits', () => {
  let proxy: TestProxy;
  let clients: ClientsService;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    clients = proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(() => proxy.close());

  const limitsOf = async (key: string) => (await proxy.get(key, '/v1/limits').expect(200)).body;
  /** @param day an SQL expression over `today`, the day of the database in UTC. */
  const spend = (id: string, day: string, usd: string) =>
    proxy.database.query(
      `INSERT INTO spending (client_id, day, usd)
       SELECT $1, ${day}, $2 FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t`,
      [id, usd],
    );

  it('says of a client without limits what it has spent, and no more', async () => {
    const { key } = await proxy.client('unlimited', 'read');
    const none = { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: expect.any(String) };
    expect(await limitsOf(key)).toEqual({
      ...{ daily: none, monthly: none, max_item_usd: null, max_call_usd: null, approval_over_usd: null },
      ...{ max_items: null, requests_per_minute: null, countries: [], require_idempotency_key: false },
    });
  });

  it('says each limit, and what is left of today and of this month, exactly', async () => {
    const { id, key } = await clients.create('shop', ['pay'], {
      ...{ dailyCapUsd: new Decimal(10), monthlyCapUsd: new Decimal(999_999_999) },
      ...{ maxItemUsd: new Decimal('5.50'), maxCallUsd: new Decimal(8), approvalOverUsd: new Decimal(0) },
      ...{ maxItems: 3, requestsPerMinute: 600, countries: ['Kenya', 'Nigeria'], requireIdempotencyKey: true },
      ...{ addresses: ['0.0.0.0/0', '::/0'], origins: ['https://shop.example'] },
    });
    const other = await proxy.client('other', 'pay');
    await spend(id, 'today', '3.500001');
    await spend(other.id, 'today', '1000');
    const { daily, monthly, ...rest } = await limitsOf(key);
    const [{ day_ends, month_ends } = {}] = await proxy.database.query(`
      SELECT (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC' AS day_ends,
        (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS month_ends`);
    expect(daily).toEqual({
      ...{ cap_usd: '10', spent_usd: '3.500001', left_usd: '6.499999', resets_at: day_ends.toISOString() },
    });
    expect(daily.resets_at).toMatch(/T00:00:00\.000Z$/);
    expect(monthly).toEqual({
      ...{ cap_usd: '999999999', spent_usd: '3.500001', left_usd: '999999995.499999' },
      resets_at: month_ends.toISOString(),
    });
    expect(monthly.resets_at).toMatch(/-01T00:00:00\.000Z$/);
    expect(rest).toEqual({
      ...{ max_item_usd: '5.5', max_call_usd: '8', approval_over_usd: '0', max_items: 3, requests_per_minute: 600 },
      ...{ countries: ['Kenya', 'Nigeria'], require_idempotency_key: true },
    });
  });

  it('adds up the days of this month only', async () => {
    const { id, key } = await clients.create('monthly', ['read'], { monthlyCapUsd: new Decimal(100) });
    const month = "date_trunc('month', today)";
    await spend(id, `${month}::date - 1`, '50');
    await spend(id, `(${month} + interval '1 month')::date`, '25');
    await spend(id, `${month}::date`, '0.1');
    // Another day of this month, whichever is not today.
    await spend(id, `${month}::date + CASE extract(day FROM today) WHEN 2 THEN 2 ELSE 1 END`, '0.2');
    expect((await limitsOf(key)).monthly).toMatchObject({ cap_usd: '100', spent_usd: '0.3', left_usd: '99.7' });
  });

  it('has nothing left, not less, of a cap that was lowered', async () => {
    const { id, key } = await clients.create('lowered', ['write'], { dailyCapUsd: new Decimal(10) });
    await spend(id, 'today', '7');
    await clients.update('lowered', { dailyCapUsd: new Decimal(5) });
    expect((await limitsOf(key)).daily).toMatchObject({ cap_usd: '5', spent_usd: '7', left_usd: '0' });
    await clients.update('lowered', { dailyCapUsd: null });
    expect((await limitsOf(key)).daily).toMatchObject({ cap_usd: null, spent_usd: '7', left_usd: null });
  });

  it('needs a scope of the interface', async () => {
    const { key } = await proxy.client('auditing', 'audit', 'admin');
    expect((await proxy.get(key, '/v1/limits').expect(403)).body.code).toBe('scope_missing');
  });
});

import { Decimal } from 'decimal.js';
import { ClientsService } from '../../src/access/clients/clients.service';
import { NO_LIMITS, SHOWN_LIMIT_KEYS, toLimitsDocument } from '../../src/access/clients/limits/limits';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** What is left: of caps, and of what table `spending` says. */
describe('GET /v1/limits', () => {
  let proxy: TestProxy;
  let database: TestDatabase;
  let clients: ClientsService;

  beforeAll(async () => {
    database = await createTestDatabase();
    await setClock('2028-02-29T23:59:59Z');
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
    clients = proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(async () => {
    await proxy.close();
    await database.close();
  });

  /** A now() of the database's own that goes before Postgres's, for the proxy's connections to come. */
  async function setClock(instant: string): Promise<void> {
    await database.query(`CREATE OR REPLACE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE
      AS $$
      SELECT '${instant}'::timestamptz $$`);
    const [{ name } = {}] = await database.query<{ name: string }>('SELECT current_database() AS name');
    await database.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  }

  const NOTHING = toLimitsDocument(NO_LIMITS, SHOWN_LIMIT_KEYS);
  const limitsOf = async (key: string) => (await proxy.get(key, '/v1/limits').expect(200)).body;
  const spend = (id: string, day: string, usd: string) =>
    database.query('INSERT INTO spending (client_id, day, usd) VALUES ($1, $2, $3)', [id, day, usd]);

  it('shows only the spending of a client without limits', async () => {
    const { key } = await proxy.client('unlimited', 'read');
    const none = { cap_usd: null, spent_usd: '0', left_usd: null };
    expect(await limitsOf(key)).toEqual({
      daily: { ...none, resets_at: '2028-03-01T00:00:00.000Z' },
      monthly: { ...none, resets_at: '2028-03-01T00:00:00.000Z' },
      total: null,
      ...NOTHING,
    });
  });

  it('shows each limit, and the exact remainder of today and of this month', async () => {
    const { id, key } = await clients.create('shop', ['pay'], {
      dailyCapUsd: new Decimal(10),
      monthlyCapUsd: new Decimal(999_999_999),
      maxItemUsd: new Decimal('5.50'),
      maxCallUsd: new Decimal(8),
      approvalOverUsd: new Decimal(0),
      approvalOverRecipientDayUsd: new Decimal(20),
      approvalOverDayUsd: new Decimal('75.5'),
      maxRecipientDayUsd: new Decimal(40),
      holdDuplicatesDays: 30,
      maxItems: 3,
      requestsPerMinute: 600,
      countries: ['Kenya', 'Nigeria'],
      requireIdempotencyKey: true,
      beneficiariesOnly: true,
      beneficiaryCoolOffSeconds: 86_400,
      addresses: ['0.0.0.0/0', '::/0'],
      origins: ['https://shop.example'],
    });
    const other = await proxy.client('other', 'pay');
    await spend(id, '2028-02-29', '3.500001');
    await spend(other.id, '2028-02-29', '1000');
    const { daily, monthly, ...rest } = await limitsOf(key);
    expect(daily).toEqual({
      cap_usd: '10',
      spent_usd: '3.500001',
      left_usd: '6.499999',
      resets_at: '2028-03-01T00:00:00.000Z',
    });
    expect(monthly).toEqual({
      cap_usd: '999999999',
      spent_usd: '3.500001',
      left_usd: '999999995.499999',
      resets_at: '2028-03-01T00:00:00.000Z',
    });
    expect(rest).toEqual({
      ...NOTHING,
      total: null,
      max_item_usd: '5.5',
      max_call_usd: '8',
      approval_over_usd: '0',
      approval_over_recipient_day_usd: '20',
      approval_over_day_usd: '75.5',
      max_recipient_day_usd: '40',
      hold_duplicates_days: 30,
      max_items: 3,
      requests_per_minute: 600,
      countries: ['Kenya', 'Nigeria'],
      require_idempotency_key: true,
      beneficiaries_only: true,
      beneficiary_cool_off_seconds: 86_400,
    });
  });

  it('sums the days of this month only', async () => {
    const { id, key } = await clients.create('monthly', ['read'], { monthlyCapUsd: new Decimal(100) });
    await spend(id, '2028-01-31', '50');
    await spend(id, '2028-02-01', '0.1');
    await spend(id, '2028-02-28', '0.2');
    await spend(id, '2028-03-01', '25');
    expect((await limitsOf(key)).daily).toMatchObject({ spent_usd: '0' });
    expect((await limitsOf(key)).monthly).toMatchObject({
      cap_usd: '100',
      spent_usd: '0.3',
      left_usd: '99.7',
    });
  });

  it('resets with the day, and with the month', async () => {
    const { id, key } = await clients.create('new-day', ['read'], { dailyCapUsd: new Decimal(10) });
    await spend(id, '2028-02-29', '1');
    await spend(id, '2028-12-30', '4');
    await spend(id, '2028-12-31', '8');
    await setClock('2028-12-31T00:00:00Z');
    expect(await limitsOf(key)).toMatchObject({
      daily: { spent_usd: '8', left_usd: '2', resets_at: '2029-01-01T00:00:00.000Z' },
      monthly: { spent_usd: '12', resets_at: '2029-01-01T00:00:00.000Z' },
    });
    await setClock('2028-12-30T23:30:00Z');
    expect(await limitsOf(key)).toMatchObject({
      daily: { spent_usd: '4', left_usd: '6', resets_at: '2028-12-31T00:00:00.000Z' },
      monthly: { spent_usd: '12', resets_at: '2029-01-01T00:00:00.000Z' },
    });
    await setClock('2028-02-29T23:59:59Z');
  });

  it('shows zero, not less, for a lowered cap', async () => {
    const { id, key } = await clients.create('lowered', ['write'], { dailyCapUsd: new Decimal(10) });
    await spend(id, '2028-02-29', '7');
    await clients.update('lowered', { dailyCapUsd: new Decimal(5) });
    expect((await limitsOf(key)).daily).toMatchObject({ cap_usd: '5', spent_usd: '7', left_usd: '0' });
    await clients.update('lowered', { dailyCapUsd: null });
    expect((await limitsOf(key)).daily).toMatchObject({ cap_usd: null, spent_usd: '7', left_usd: null });
  });

  it('requires a scope of the interface', async () => {
    const { key } = await proxy.client('auditing', 'audit', 'admin');
    expect((await proxy.get(key, '/v1/limits').expect(403)).body.code).toBe('scope_missing');
  });
});

import { FenceService } from '../../../src/continuity/fence/fence.service';
import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { CallJournal } from '../../../src/journal/call-journal';
import supertest from '../../support/http/supertest';
import { reset, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { startProxy } from '../../support/processes/proxy';

/** An instance that must not pay refuses and holds back, says why, and goes on showing what it knows. */
describe('a fenced instance', () => {
  let paying: PaymentScene;
  let fence: FenceService;
  beforeAll(async () => {
    paying = await startPaying();
    fence = paying.proxy.app.get(FenceService);
  });
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const { reason } of fence.reasons) fence.lower(reason);
  });

  const spentBy = (clientId: string) =>
    paying.proxy.database.query('SELECT sum(usd)::float AS usd FROM spending WHERE client_id = $1', [
      clientId,
    ]);

  it('refuses payments before admission, and accepts them after the fence is lowered', async () => {
    const { id, key } = await paying.proxy.client('fenced', 'pay', 'read', 'account');
    const pay = () => paying.proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
    fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
    const { body, headers } = await pay().expect(503);
    expect([body.code, body.action, headers['retry-after']]).toEqual([
      'instance_fenced',
      'retry_same_key',
      '5',
    ]);
    expect(paying.upstream.received).toHaveLength(0);
    expect(await spentBy(id)).toEqual([{ usd: null }]); // nothing was reserved and given back either
    await paying.proxy.get(key, '/api/v0.1/wallets/list').expect(200);
    fence.lower('clock_skewed');
    await pay().expect(200);
  });

  it('does not send an admitted payment, and releases its amount', async () => {
    const { id, key } = await paying.proxy.client('fenced-later', 'pay');
    const journal = paying.proxy.app.get(CallJournal, { strict: false });
    const admit = journal.admit.bind(journal);
    jest.spyOn(journal, 'admit').mockImplementation(async (...asked) => {
      const result = await admit(...asked);
      fence.raise('database_behind', 'The database lacks commits.');
      return result;
    });
    const pay = () => paying.proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
    const got = await pay().expect(503);
    expect(got.body.code).toBe('instance_fenced');
    expect(paying.upstream.received).toHaveLength(0);
    expect(await paying.record(got)).toMatchObject({ outcome: 'not_sent', upstream: { failure: 'fenced' } });
    expect(await spentBy(id)).toEqual([{ usd: 0 }]);
    jest.restoreAllMocks();
    fence.lower('database_behind');
    await pay().expect(200);
    expect(await spentBy(id)).toEqual([{ usd: 2.5 }]);
  });

  it('settles nothing by hand, because an old database or a wrong clock would settle too early', async () => {
    const { key } = await paying.proxy.client('in-doubt', 'pay');
    const { key: approver } = await paying.proxy.client('settling', 'approve');
    paying.upstream.behaviour = reset;
    const got = await paying.proxy.post(key, '/payouts/airtime', AIRTIME).expect(502);
    const settle = () =>
      supertest(paying.proxy.url)
        .post(`/v1/calls/${got.headers['x-call-id']}/resolution`)
        .set('X-API-Key', approver)
        .send({ outcome: 'not_executed', reason: 'the provider has nothing of it' });
    fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
    const { body } = await settle().expect(503);
    expect([body.code, body.detail]).toEqual([
      'instance_fenced',
      expect.stringContaining('Nothing was changed.'),
    ]);
    fence.lower('clock_skewed');
    await settle().expect(200);
  });

  it('rejects decisions about held calls, because an old database may lack an approval', async () => {
    const { key } = await paying.proxy.client('held-while-fenced', 'pay');
    const { key: approver } = await paying.proxy.client('deciding', 'approve');
    await paying.proxy.database.query(
      `UPDATE client SET approval_over_usd = 0 WHERE name = 'held-while-fenced'`,
    );
    const held = (await paying.proxy.post(key, '/payouts/airtime', AIRTIME).expect(202)).headers['x-call-id'];
    const decide = (decision: 'approve' | 'reject') =>
      supertest(paying.proxy.url)
        .post(`/v1/approvals/${held}/${decision}`)
        .set('X-API-Key', approver)
        .send({ reason: 'not ordered' });
    fence.raise('database_behind', 'The database lacks commits.');
    for (const decision of ['approve', 'reject'] as const)
      expect((await decide(decision).expect(503)).body.code).toBe('instance_fenced');
    fence.lower('database_behind');
    await decide('reject').expect(200);
  });

  it('is not ready, and reports the cause in /readyz and a metric', async () => {
    fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
    const { body } = await paying.proxy.get('', '/readyz').expect(503);
    expect(body).toMatchObject({ code: 'not_ready' });
    expect((body as { detail: string }).detail).toContain('clock_skewed: The clock differs by 60 seconds.');
    const { text } = await paying.proxy.get('', '/metrics').expect(200);
    expect(text).toContain('payout_proxy_fenced{reason="clock_skewed"} 1');
    expect(text).toContain('payout_proxy_fenced{reason="database_behind"} 0');
    fence.lower('clock_skewed');
    await paying.proxy.get('', '/readyz').expect(200);
  });

  it('refuses to start in production with unsafe commit settings, unless allowed by name', async () => {
    // fsync, full_page_writes and synchronous_commit are off on the test server
    const { database } = paying.proxy;
    const start = (...databaseAllowUnsafe: string[]) =>
      startProxy({ upstreamBaseUrl: paying.upstream.url, production: true, databaseAllowUnsafe }, database);
    await expect(start('fsync', 'full_page_writes')).rejects.toThrow(
      'The database runs with synchronous_commit=off: a crash of the server loses confirmed payments. ' +
        'Set synchronous_commit=on, or allow it with DATABASE_ALLOW_UNSAFE=synchronous_commit.',
    );
    const { username, pathname } = new URL(database.url);
    const alter = (change: string) =>
      database.query(`ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)} ${change}`);
    const end = (sessions: string) =>
      database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${sessions}`);
    await alter('SET synchronous_commit = on');
    const proxy = await start('fsync', 'full_page_writes');
    const heartbeat = proxy.app.get(HeartbeatService);
    const fenced = () => proxy.app.get(FenceService).reasons.map(({ reason }) => reason);
    expect(fenced()).toEqual([]);
    const { key } = await proxy.client('durable', 'pay');
    const pay = () => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
    await alter('RESET synchronous_commit');
    await end(`application_name <> 'payout-proxy heartbeat'`); // its session keeps the setting
    await eventually(async () => (await pay()).body.code === 'instance_fenced');
    expect(paying.upstream.received).toHaveLength(0);
    expect(fenced()).toEqual(['durability_unsafe']);
    await alter('SET synchronous_commit = on');
    await eventually(async () => (await pay()).status === 200);
    await alter('RESET synchronous_commit');
    await end(`application_name = 'payout-proxy heartbeat'`);
    await eventually(async () => {
      await heartbeat.beat();
      return fenced().includes('durability_unsafe');
    });
    await proxy.close();
  });

  it('is not ready while the database confirms no durable write', async () => {
    const heartbeat = paying.proxy.app.get(HeartbeatService);
    jest.spyOn(heartbeat, 'age', 'get').mockReturnValue(5_000);
    const { body } = await paying.proxy.get('', '/readyz').expect(503);
    expect((body as { detail: string }).detail).toBe('The database does not confirm a durable write.');
  });
});

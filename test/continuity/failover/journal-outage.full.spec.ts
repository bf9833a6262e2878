import { Logger } from '@nestjs/common';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, phones, startPaying } from '../../support/payments/paying';
import { insertIntent } from '../../support/records/documents';

/** A database that rejects or delays writes. */
describe('the journal during an outage', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying({ upstreamConnections: 200 })));
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => jest.restoreAllMocks());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'];

  it.each([
    [
      'may not be written',
      'REVOKE INSERT ON intent FROM payout_proxy',
      'GRANT INSERT ON intent TO payout_proxy',
    ],
    ['are gone', 'ALTER TABLE intent RENAME TO intent_away', 'ALTER TABLE intent_away RENAME TO intent'],
    [
      'lose one of their tables',
      'ALTER TABLE intent_body RENAME TO away',
      'ALTER TABLE away RENAME TO intent_body',
    ],
  ])('returns 503 database_unavailable and sends nothing while intents %s', async (_how, breaks, mends) => {
    await query(breaks);
    const got = await paying.pay();
    await query(mends);
    expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([
      503,
      'database_unavailable',
      '1',
    ]);
    expect(paying.upstream.received).toEqual([]);
    expect(await query('SELECT FROM intent WHERE id = $1', [callOf(got)])).toEqual([]);
    expect(await paying.record(got)).toMatchObject({
      outcome: 'refused',
      refusal: { code: 'database_unavailable' },
    });
    await paying.pay().expect(200);
  });

  it('shows a call once, as refused, after a false commit failure', async () => {
    await query('REVOKE INSERT ON intent FROM payout_proxy');
    const got = await paying.pay().expect(503);
    await query('GRANT INSERT ON intent TO payout_proxy');
    await insertIntent(paying.proxy.database, { id: callOf(got) ?? '' });
    expect(await paying.record(got)).toMatchObject({ outcome: 'refused' });
    expect((await paying.listed('refused')).filter((id) => id === callOf(got))).toHaveLength(1);
    expect(await paying.listed('in_progress')).not.toContain(callOf(got));
    const { body } = await paying.proxy.get(paying.auditor, '/v1/audit/calls').expect(200);
    expect(body.calls.filter(({ id }) => id === callOf(got))).toMatchObject([{ outcome: 'refused' }]);
  });

  it('sets a timeout for every statement, against locks', async () => {
    const settings = await paying.proxy.app.get(PrismaService).$queryRaw`SHOW statement_timeout`;
    expect(settings).toEqual([{ statement_timeout: '10s' }]);
  });

  it('returns 502 outcome_unknown while outcomes cannot be written', async () => {
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    // Together, because each is answered only after its timeout.
    const [got, read] = await Promise.all([
      paying.pay(),
      paying.proxy.get(paying.app, '/api/v0.1/wallets/list'),
    ]);
    await query('GRANT INSERT ON outcome TO payout_proxy');
    expect([got.status, got.body.code]).toEqual([502, 'outcome_unknown']);
    expect(paying.upstream.received.filter(({ url }) => url === '/api/v0.1/payouts/airtime')).toHaveLength(1);
    // The outcome of the payment was kept on disk.
    await eventually(async () => (await paying.record(got)).outcome === 'succeeded');
    expect([read.status, read.body.code]).toEqual([502, 'outcome_unknown']);
    expect(read.body.error).toContain('it is safe to try again');
    // The journal may retry it.
    expect(['in_progress', 'succeeded']).toContain((await paying.record(read)).outcome);
    expect(paying.upstream.received).toHaveLength(2);
    await paying.pay().expect(200);
  });

  it('hides a short outage from the app', async () => {
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const failedTwice = new Promise<void>((resolve) => {
      let failures = 0;
      jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {
        failures += 1;
        if (failures === 2) resolve();
      });
    });
    const answered = paying.pay().then((got) => got);
    await failedTwice;
    await query('GRANT INSERT ON outcome TO payout_proxy');
    const got = await answered;
    expect(got.status).toBe(200);
    expect(await paying.record(got)).toMatchObject({ outcome: 'succeeded' });
    expect(await query('SELECT FROM outcome WHERE intent_id = $1', [callOf(got)])).toHaveLength(1);
    expect(paying.upstream.received).toHaveLength(1);
  });

  it('delays only the client whose row is locked, and permits retries of its change', async () => {
    const held = await paying.proxy.client('held-up', 'pay');
    await paying.proxy.client('locked', 'pay');
    const { key } = await paying.proxy.client('its-admin', 'admin');
    await query('BEGIN');
    await query("SELECT FROM client WHERE name IN ('held-up', 'locked') FOR UPDATE");
    const stuck = paying.proxy.post(held.key, '/payouts/airtime', AIRTIME).then(({ status }) => status);
    const change = () =>
      supertest(paying.proxy.url).patch('/v1/clients/locked').set('X-API-Key', key).send({ max_items: 3 });
    // Concurrent, because it waits for the lock timeout.
    const changing = change().then((got) => got);
    const others = await Promise.all([
      ...phones(5).map((phone) => paying.pay(phone)),
      paying.proxy.get(paying.app, '/api/v0.1/wallets/list'),
      paying.proxy.get('', '/readyz'),
    ]);
    const changed = await changing;
    await query('ROLLBACK');
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect([changed.status, changed.body.code, changed.headers['retry-after']]).toEqual([
      503,
      'database_unavailable',
      '1',
    ]);
    expect([200, 503]).toContain(await stuck); // Its lock timed out, or a retry was in time.
    await paying.proxy.post(held.key, '/payouts/airtime', AIRTIME).expect(200);
    await change().expect(200);
  });
});

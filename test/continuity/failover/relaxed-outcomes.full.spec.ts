import { Logger } from '@nestjs/common';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, PaymentScene, phones, startPaying } from '../../support/payments/paying';
import { startProxy } from '../../support/processes/proxy';

/** OUTCOMES=relaxed: the app hears its answer before the record does. */
describe('an outcome committed after the response', () => {
  let paying: PaymentScene;
  let number = 0;
  beforeAll(async () => {
    paying = await startPaying({ outcomes: 'relaxed' });
    paying.upstream.behaviour = succeed;
  });
  afterAll(() => paying.close());
  afterEach(() => jest.restoreAllMocks());

  const numbers = phones(10);
  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const callOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'];
  const kindOf = async (id: string | undefined) =>
    (await query('SELECT kind FROM outcome WHERE intent_id = $1', [id]))[0]?.kind;
  const pay = () => paying.pay(numbers[number++]);

  it('appears soon after the response, and replays meanwhile return Retry-After', async () => {
    await query('BEGIN');
    await query('LOCK TABLE outcome IN SHARE MODE');
    const body = airtime(numbers[number++] ?? '');
    const ask = () => paying.proxy.post(paying.app, '/payouts/airtime', body).set('Idempotency-Key', 'once');
    const got = await ask().expect(200);
    const meanwhile = await ask();
    // After the first attempt to write the outcome, the repetition is told to wait for it.
    expect([
      meanwhile.status,
      ['request_in_progress', 'outcome_unknown'].includes(meanwhile.body.code ?? ''),
    ]).toEqual([409, true]);
    expect(await kindOf(callOf(got))).toBeUndefined();
    await query('COMMIT');
    await eventually(async () => (await kindOf(callOf(got))) === 'succeeded');
    const replayed = await ask().expect(200);
    expect(replayed.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-id': callOf(got) });
    expect(paying.upstream.received).toHaveLength(1);
  });

  it('is retried after a failed write', async () => {
    const warned = new Promise<void>((done) =>
      jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => done()),
    );
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const got = await pay().expect(200);
    await warned;
    await query('GRANT INSERT ON outcome TO payout_proxy');
    await eventually(async () => (await kindOf(callOf(got))) === 'succeeded');
  });

  it('is logged with its call when abandoned, and the call is in doubt', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const logged = new Promise<object>((done) =>
      jest.spyOn(Logger.prototype, 'error').mockImplementation(done),
    );
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const got = await pay().expect(200);
    expect(await logged).toMatchObject({ call_id: callOf(got), outcome: 'succeeded' });
    expect(await kindOf(callOf(got))).toBeUndefined();
    expect(await paying.listed('in_progress')).toContain(callOf(got));
    await query('GRANT INSERT ON outcome TO payout_proxy'); // from now on, its file is written
  });

  it('delays the shutdown until it is written', async () => {
    const database: TestDatabase = await createTestDatabase();
    const settings = { upstreamBaseUrl: paying.upstream.url, outcomes: 'relaxed' as const };
    const proxy = await startProxy(settings, database);
    const { key } = await proxy.client('app', 'pay');
    await database.query('BEGIN');
    await database.query('LOCK TABLE outcome IN SHARE MODE');
    const got = await proxy.post(key, '/payouts/airtime', airtime(numbers[number++] ?? '')).expect(200);
    const closing = proxy.close();
    const waiting = 'SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted';
    await eventually(async () => (await database.query(waiting, ['outcome'])).length === 1);
    await database.query('COMMIT');
    await closing;
    const id = callOf(got);
    expect(await database.query('SELECT kind FROM outcome WHERE intent_id = $1', [id])).toEqual([
      { kind: 'succeeded' },
    ]);
    await database.close();
  });
});

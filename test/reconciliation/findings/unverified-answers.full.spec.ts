import { INestApplicationContext } from '@nestjs/common';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { bytes } from '../../support/payments/paying';
import { forgetFalseRejections } from '../../support/payments/settling';
import { startProxyWithSandbox, UPSTREAM_KEY } from '../../support/processes/proxy';
import { askSandbox, dataIn } from '../../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const CREDIT = 'POST /payouts/credit';

/** The sandbox pays and answers with an error. No retry pays twice or exceeds a cap. */
describe('an upstream that pays and answers with an error', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let auditor: string;
  let reconciler: string;
  let count = 0;

  beforeAll(async () => {
    const guards = { duplicateGuard: true, duplicateWindowSeconds: 3_600, checkCoverage: false };
    proxy = await startProxyWithSandbox({ resolverQuietSeconds: 3_600, ...guards });
    worker = await proxy.startWorker();
    auditor = (await proxy.client('auditor', 'audit')).key;
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  });
  afterAll(() => proxy.close());
  beforeEach(async () => {
    quiet(3_600_000);
    await forgetFalseRejections(proxy);
    await control('delete', '/faults').expect(204);
  });

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const fault = (name: string, more: object = {}) =>
    control('post', '/faults', { fault: name, operation: CREDIT, ...more }).expect(201);
  const quiet = (ms: number) => (worker.get(PollService).rules.quietMs = ms);
  const email = () => `somebody.${(count += 1)}@example.com`;
  const credits = (...valueInUSD: number[]) => ({
    credits: valueInUSD.map((usd) => ({ email: email(), valueInUSD: usd })),
  });
  const pay = (key: string, body: object, idempotencyKey?: string) => {
    const request = proxy.post(key, '/payouts/credit', body);
    return idempotencyKey === undefined ? request : request.set('Idempotency-Key', idempotencyKey);
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const read = async (id: string) => (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  /** The resolver's result for a call after one round. */
  const roundAbout = async (id: string): Promise<string | undefined> => {
    const request = supertest(proxy.url)
      .post('/v1/reconciliation/resolver/rounds')
      .set('X-API-Key', reconciler);
    const { verdicts } = (await request.expect(200)).body;
    return verdicts.find(({ call_id }) => call_id === id)?.verdict;
  };
  /** Ends the quiet period with a later payment, which shows how current the listing is. */
  const afterwards = async (key: string) => {
    quiet(0);
    await pay(key, credits(0.01)).expect(200);
  };
  const client = async (name: string, dailyCapUsd: number | null = null) => {
    const { id, key } = await proxy.client(name, 'pay', 'write', 'read');
    await proxy.database.query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [id, dailyCapUsd]);
    return { id, key };
  };
  const spent = async ({ id }: { id: string }) =>
    Number(
      (await proxy.database.query('SELECT usd::float FROM spending WHERE client_id = $1', [id]))[0]?.usd ?? 0,
    );
  /** Number of payments to each email address of a body. */
  const paid = async ({ credits }: { credits: { email: string }[] }): Promise<number[]> => {
    const names = credits.map(({ email }) => email);
    const asked = askSandbox(proxy.sandbox.url)
      .post('/api/v0.1/account/transactions')
      .set('X-API-Key', UPSTREAM_KEY);
    const all = (await asked.expect(200)).body.data;
    return names.map((name) => all.filter(({ email }) => email === name).length);
  };

  it('cannot exceed the cap when each of six payments gets 500 after it was paid', async () => {
    const app = await client('capped', 10);
    await fault('error500AfterProcessing');
    const bodies = Array.from({ length: 6 }, () => credits(10));
    const statuses: number[] = [];
    for (const body of bodies) statuses.push((await pay(app.key, body)).status);
    expect(statuses).toEqual([500, 403, 403, 403, 403, 403]);
    expect((await Promise.all(bodies.map(paid))).flat()).toEqual([1, 0, 0, 0, 0, 0]);
    expect(await spent(app)).toBe(10);
  });

  it('passes its status and bytes to the app, and leaves the call in doubt', async () => {
    const app = await client('told');
    const body = credits(1);
    await fault('error500AfterProcessing', { nth: 1 });
    const first = await pay(app.key, body, 'told').buffer(true).parse(bytes).expect(500);
    expect(JSON.parse(String(first.body))).toEqual({ status: 'error', error: 'internal server error' });
    const id = idOf(first);
    expect(await read(id)).toMatchObject({
      outcome: 'unknown',
      upstream: { status: 500, failure: 'unverified_rejection' },
    });
    const { body: again } = await pay(app.key, body, 'told').expect(409);
    expect(again).toMatchObject({ code: 'outcome_unknown', first_call_id: id });
    expect((await pay(app.key, body).expect(409)).body.code).toBe('suspected_duplicate');
    expect(await paid(body)).toEqual([1]);

    expect(await roundAbout(id)).toBe('confirmed');
    const confirmed = await pay(app.key, body, 'told').expect(200);
    expect(confirmed.headers['idempotent-replayed']).toBe('true');
    expect(confirmed.body).toMatchObject({ status: 'success', call_id: id });
    expect(await paid(body)).toEqual([1]);
    expect(await spent(app)).toBe(1);
  });

  it('frees the key and the reservation once the listing shows no transaction', async () => {
    const app = await client('not-executed', 2);
    const body = credits(1.5);
    await fault('error500', { nth: 1 });
    const id = idOf(await pay(app.key, body, 'not_executed').expect(500));
    expect(await spent(app)).toBe(1.5);
    expect((await pay(app.key, credits(1)).expect(403)).body.code).toBe('cap_exceeded');
    expect(await roundAbout(id)).toBeUndefined(); // it may still arrive
    await afterwards(app.key);
    expect(await roundAbout(id)).toBe('not_executed');
    expect(await spent(app)).toBe(0.01);
    expect(idOf(await pay(app.key, body, 'not_executed').expect(200))).not.toBe(id);
    expect(await paid(body)).toEqual([1]);
  });

  it('pays each person once after a 500 for two of three items, with any key', async () => {
    const app = await client('bulk', 6);
    const body = credits(1, 2, 3);
    await fault('error500AfterSome', { nth: 1 });
    const first = await pay(app.key, body, 'bulk').expect(500);
    const same = await pay(app.key, body, 'bulk').expect(409);
    expect(same.body.first_call_id).toBe(idOf(first));
    await pay(app.key, body).expect(409);
    expect([403, 409]).toContain((await pay(app.key, body, 'another')).status);
    expect(await paid(body)).toEqual([1, 1, 0]);
    quiet(0);
    await pay((await client('later')).key, credits(0.01)).expect(200);
    expect(await roundAbout(idOf(first))).toBe('confirmed');
    expect(await spent(app)).toBe(3); // the third item releases its amount
    const { body: replay } = await pay(app.key, body, 'bulk').expect(200);
    expect(replay).toMatchObject({
      data: { error: '1 of 3 payouts were not paid' },
      transactions: [{ state: 'paid' }, { state: 'paid' }, { state: 'not_executed' }],
    });
    expect(await paid(body)).toEqual([1, 1, 0]);
  });

  it('records no rejection for an answer with an error and transactions', async () => {
    const app = await client('beside', 6);
    const body = credits(1, 2, 3);
    await fault('errorBesideTransactions', { nth: 1 });
    const first = await pay(app.key, body, 'beside').expect(200);
    expect(dataIn('POST /payouts/credit', first).error).toBe('some of the items failed');
    const record = await read(idOf(first));
    expect(record.outcome).toBe('succeeded');
    expect(record.items.map(({ upstream }) => upstream?.status ?? null)).toEqual(['paid', 'paid', null]);
    expect(await spent(app)).toBe(6);
    const again = await pay(app.key, body, 'beside').expect(200);
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    await pay(app.key, body).expect(409);
    expect(await paid(body)).toEqual([1, 1, 0]);
  });

  it.each([200, 400, 500])(
    'records no rejection for an error envelope with %i that names transactions',
    async (status) => {
      const app = await client(`named-${status}`, 3);
      const body = credits(1, 2);
      await fault('errorNamingTransactions', { nth: 1, status });
      const first = await pay(app.key, body, 'named').expect(status);
      expect(first.body).toMatchObject({ status: 'error', data: { data: [{ status: 'paid' }] } });
      expect(await read(idOf(first))).toMatchObject({
        outcome: 'unknown',
        upstream: { status, failure: 'contradictory' },
      });
      expect((await pay(app.key, body, 'named').expect(409)).body.code).toBe('outcome_unknown');
      expect(await spent(app)).toBe(3);
      expect(await paid(body)).toEqual([1, 0]);
    },
  );

  it('confirms a call whose error names the transaction of each payout', async () => {
    const app = await client('named-all', 2);
    const body = credits(1);
    await fault('errorNamingTransactions', { nth: 1 });
    const id = idOf(await pay(app.key, body, 'named').expect(400));
    expect(await read(id)).toMatchObject({ outcome: 'unknown', items: [{ state: 'paid' }] });
    expect(await roundAbout(id)).toBe('confirmed');
    expect(await read(id)).toMatchObject({ outcome: 'confirmed', items: [{ state: 'paid' }] });
    const { body: replay } = await pay(app.key, body, 'named').expect(200);
    expect(replay).toMatchObject({ status: 'success', call_id: id });
    expect([await paid(body), await spent(app)]).toEqual([[1], 1]);
  });

  it('records a rejection for a 500 of an operation without listed transactions', async () => {
    const app = await client('unlisted');
    await control('post', '/faults', {
      fault: 'error500',
      operation: 'POST /sub-account/create',
      nth: 1,
    }).expect(201);
    const asked = proxy.post(app.key, '/sub-account/create', { name: 'Shop', email: 'shop@example.com' });
    expect(await read(idOf(await asked.expect(500)))).toMatchObject({ outcome: 'rejected' });
  });

  it.each([
    ['unauthorized', 502, 'upstream_auth'],
    ['forbidden', 502, 'upstream_auth'],
    ['tooManyRequests', 503, 'upstream_busy'],
  ])('keeps the key and the money after %s until the listing confirms it', async (name, status, code) => {
    const app = await client(`free-${name.toLowerCase()}`, 1);
    const body = credits(1);
    await fault(name, { nth: 1 });
    const first = await pay(app.key, body, 'same').expect(status);
    expect(first.body).toMatchObject({ code, action: 'wait' });
    expect(first.headers['retry-after']).toBe('30');
    expect(await read(idOf(first))).toMatchObject({ outcome: 'unknown' });
    expect(await spent(app)).toBe(1);
    await pay(app.key, body, 'same').expect(409);
    worker.get(PollService).rules.rejectedQuietMs = 0;
    expect(await roundAbout(idOf(first))).toBe('not_executed');
    const second = await pay(app.key, body, 'same').expect(200);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect(await paid(body)).toEqual([1]);
  });
});

import { INestApplicationContext } from '@nestjs/common';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { createSandbox, Sandbox } from '../../../src/sandbox/app';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../../support/processes/proxy';
import { editRecord, insertOutcomes, insertSettlements } from '../../support/records/documents';
import { copyIntent } from '../../support/records/intents';
import { askSandbox, dataIn } from '../../support/sandbox/sandbox-answers';

const SUB_ACCOUNT = { name: 'North', email: 'north@example.com' };

/** A proxy, a worker that resolves only on request, and a sandbox that loses answers on demand. */
describe('the resolver', () => {
  let database: TestDatabase;
  let sandbox: Sandbox;
  let proxy: TestProxy;
  let worker: INestApplicationContext;
  let app: { id: string; key: string };
  let auditor: string;
  let reconciler: string;
  let count = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
    const settings = { upstreamBaseUrl: sandbox.url, upstreamTimeoutMs: 3_000, resolverQuietSeconds: 3_600 };
    proxy = await startProxy(settings, database);
    worker = await proxy.startWorker();
    app = await proxy.client('app', 'pay', 'write', 'read', 'account');
    auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
    await database.close();
  });
  beforeEach(async () => {
    quiet(3_600_000);
    await control('delete', '/faults');
  });

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(sandbox.url)
      [method](`/_sandbox${path}`)
      .set('X-Sandbox-Control-Key', 'sandbox-control')
      .send(body);
  const lose = (fault: string, operation?: string) =>
    control('post', '/faults', { fault, operation, nth: 1 }).expect(201);
  const credit = (more: object = {}) => ({
    credits: [{ email: `person.${(count += 1)}@example.com`, valueInUSD: 0.25, ...more }],
  });
  const pay = (body: object, key?: string, path = '/payouts/credit') => {
    const request = proxy.post(app.key, path, body);
    return key === undefined ? request : request.set('Idempotency-Key', key);
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const read = async (id: string) => (await proxy.get(app.key, `/v1/calls/${id}`).expect(200)).body;
  const round = async (key = reconciler) =>
    (await supertest(proxy.url).post('/v1/reconciliation/resolver/rounds').set('X-API-Key', key).expect(200))
      .body;
  const query: TestDatabase['query'] = (sql, parameters) => database.query(sql, parameters);
  const quiet = (ms: number) => (worker.get(PollService).rules.quietMs = ms);
  /** Ends the quiet period with a later payment, which shows how current the listing is. */
  const afterwards = async () => {
    quiet(0);
    await pay(credit()).expect(200);
  };
  const spent = async () => Number((await query('SELECT usd::float FROM spending'))[0]?.usd ?? 0);

  it('confirms a call, and its app and a replay get the transactions', async () => {
    const body = { credits: [...credit().credits, ...credit({ valueInUSD: 0.5 }).credits] };
    await lose('resetAfterProcessing');
    const id = idOf(await pay(body, 'confirmed').expect(502));
    const before = await spent();
    const verdicts = [{ call_id: id }];
    expect(await round()).toMatchObject({ in_doubt: 1, polled: 1, failure: null, verdicts });
    const call = await read(id);
    const text = expect.any(String);
    const transactions = [
      { position: 0, amount_usd: '0.25', upstream_ref: text, batch_ref: text },
      { position: 1, amount_usd: '0.5', status: 'paid', upstream_id: text, at: text },
    ];
    const resolution = { outcome: 'confirmed', resolved_by: null, transactions };
    expect(call).toMatchObject({ outcome: 'confirmed', doubt: null, resolution });
    const [one, other] = call.resolution?.transactions ?? [];
    expect([one?.status, one?.batch_ref]).toEqual(['paid', other?.batch_ref]);
    const again = await pay(body, 'confirmed').expect(200);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toMatchObject({ status: 'success', call_id: id, transactions });
    expect(await spent()).toBe(before); // it stays reserved
    const settlements = await query('SELECT record FROM settlement WHERE intent_id = $1', [id]);
    expect(JSON.stringify(settlements)).not.toContain('@');
  });

  it('settles a call as not executed, which releases the reservation, and its key pays once', async () => {
    const body = credit({ valueInUSD: 0.75 });
    await lose('resetBeforeProcessing');
    const before = await spent();
    const id = idOf(await pay(body, 'not_executed').expect(502));
    expect(await spent()).toBeCloseTo(before + 0.75);
    expect((await round()).verdicts).toEqual([]); // it may still arrive
    expect((await pay(body, 'not_executed').expect(409)).body.code).toBe('outcome_unknown');
    await afterwards();
    expect((await round()).verdicts).toMatchObject([{ call_id: id, verdict: 'not_executed' }]);
    expect(await read(id)).toMatchObject({ outcome: 'not_executed', resolution: { transactions: [] } });
    expect(await spent()).toBeCloseTo(before + 0.25); // amounts paid afterwards
    const paid = await pay(body, 'not_executed').expect(200);
    expect(idOf(paid)).not.toBe(id);
    expect(await spent()).toBeCloseTo(before + 1);
    expect(idOf(await pay(body, 'not_executed').expect(200))).toBe(idOf(paid));
  });

  it('does not attribute a transaction to the call that redeemed it', async () => {
    await lose('resetAfterProcessing');
    const id = idOf(await pay(credit()).expect(502));
    const listed = await proxy.post(app.key, '/account/transactions', {}).expect(200);
    const { chiRef } = first(dataIn('POST /account/transactions', listed));
    const redemption = { chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' };
    await pay(redemption, undefined, '/redeem/airtime').expect(200);
    expect((await round()).verdicts).toMatchObject([{ call_id: id, verdict: 'confirmed' }]);
    const timeline = (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect(timeline.seals.map(({ kind }) => kind)).toContain('settlement');
    expect(timeline.resolution?.transactions).toMatchObject([{ status: 'redeemed' }]);
  });

  it('leaves a call ambiguous whose recipient got another amount, and names the transaction', async () => {
    const body = credit();
    await lose('resetBeforeProcessing');
    const id = idOf(await pay(body).expect(502));
    await askSandbox(sandbox.url) // in the upstream's portal
      .post('/api/v0.1/payouts/credit')
      .set('X-API-Key', UPSTREAM_KEY)
      .send({ credits: [{ ...body.credits[0], valueInUSD: 0.26 }] })
      .expect(200);
    await afterwards();
    expect((await round()).verdicts).toMatchObject([{ verdict: 'ambiguous' }]);
    expect(await read(id)).toMatchObject({
      outcome: 'unknown',
      doubt: { verdict: 'ambiguous', reason: expect.stringContaining('with another amount'), calls: [] },
    });
    const record = (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect(record.doubt).toMatchObject({ transactions: [{ amount_usd: '0.26', position: null }] });
    expect((await round()).verdicts).toEqual([]); // reported before
    const approver = (await proxy.client('approver', 'approve')).key;
    const settle = supertest(proxy.url).post(`/v1/calls/${id}/resolution`).set('X-API-Key', approver);
    await settle.send({ outcome: 'not_executed', reason: 'asked the provider' }).expect(200);
    expect((await read(id)).resolution).toMatchObject({ resolved_by: { client: { name: 'approver' } } });
  });

  it('settles deletions and redemptions by looking up their transactions', async () => {
    const made = async (path: '/payouts/credit' | '/payouts/initiate-credit') =>
      first(dataIn(`POST ${path}`, await pay(credit(), undefined, path).expect(200)).data);
    const remove = (chiRef: string) => pay({ chiRef }, undefined, '/account/delete-unpaid-transaction');
    const redeem = (chiRef: string) =>
      pay({ chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' }, undefined, '/redeem/airtime');
    const [deleted, kept] = [await made('/payouts/initiate-credit'), await made('/payouts/initiate-credit')];
    const paid = [await made('/payouts/credit'), await made('/payouts/credit')];
    const lost: [string, () => ReturnType<typeof pay>][] = [
      ['resetAfterProcessing', () => remove(deleted.chiRef)],
      ['resetBeforeProcessing', () => remove(kept.chiRef)],
      ['resetAfterProcessing', () => redeem(paid[0]?.chiRef ?? '')],
      ['resetBeforeProcessing', () => redeem(paid[1]?.chiRef ?? '')],
      ['resetBeforeProcessing', () => remove('2cf5c727-3510-4a2d-8216-bff04f26262f')],
      ['resetBeforeProcessing', () => pay(SUB_ACCOUNT, undefined, '/sub-account/create')],
    ];
    const ids: string[] = [];
    for (const [fault, ask] of lost) {
      await lose(fault);
      ids.push(idOf(await ask()));
    }
    await afterwards();
    await round();
    // a payout is no evidence about links
    expect((await read(ids[1] ?? '')).doubt?.reason).toContain('no later call of the same kind');
    await made('/payouts/initiate-credit');
    await round();
    const calls = await Promise.all(ids.map(read));
    expect(calls.map(({ outcome, doubt }) => doubt?.verdict ?? outcome)).toEqual([
      'confirmed',
      'not_executed',
      'confirmed',
      'not_executed',
      'ambiguous',
      'ambiguous',
    ]);
    expect(calls[4]?.doubt?.reason).toContain('do not contain the transaction');
    expect(calls[5]?.doubt?.reason).toContain('POST /sub-account/create');
    const open = [ids[4], ids[5]].map((intent_id) => ({ intent_id }));
    await insertSettlements(proxy.database, open);
  });

  it('concludes nothing from a listing that is truncated, or lacks known transactions', async () => {
    await lose('resetBeforeProcessing');
    const id = idOf(await pay(credit()).expect(502));
    await afterwards();
    await lose('truncatedBody', 'POST /account/transactions');
    expect(await round()).toMatchObject({ in_doubt: 1, failure: expect.any(String), verdicts: [] });
    expect(await read(id)).toMatchObject({ outcome: 'unknown', doubt: null });
    // A payment forgotten by the upstream.
    const sql = `SELECT intent_id AS id FROM outcome WHERE kind = 'succeeded' LIMIT 1`;
    const [{ id: paid }] = (await query<{ id: string }>(sql)) as [{ id: string }];
    const forgotten = await copyIntent(database, paid, { client_id: app.id });
    const recorded_at = new Date(Date.now() - 10_000).toISOString();
    const items = [{ position: 0, upstream_ref: 'nowhere' }];
    await insertOutcomes(database, [{ intent_id: forgotten, recorded_at, items }]);
    await round();
    expect((await read(id)).doubt?.reason).toContain('lacks 1 transactions');
    await editRecord(database, 'outcome', forgotten, ({ items: _, ...record }) => record);
    expect((await round()).verdicts).toMatchObject([{ call_id: id, verdict: 'not_executed' }]);
  });

  it('polls until every call is settled, and is quiet when nothing is in doubt', async () => {
    const polls = jest.spyOn(worker.get(PollService), 'poll');
    const resolver = worker.get(ResolverService);
    await resolver.run(new AbortController().signal);
    expect(polls).not.toHaveBeenCalled();
    await lose('resetBeforeProcessing');
    const id = idOf(await pay(credit()).expect(502));
    await afterwards();
    await eventually(async () => {
      await resolver.run(new AbortController().signal);
      return (await read(id)).outcome === 'not_executed';
    });
    const { body: text } = await worker.get(MetricsService, { strict: false }).text();
    expect(text).toMatch(/payout_proxy_verdicts_total\{verdict="not_executed"\} \d/);
    expect(text).toMatch(/payout_proxy_calls_in_doubt\{age="under_an_hour"\} \d/);
  });

  it('records each verdict once, even if two workers resolve simultaneously', async () => {
    const second = await proxy.startWorker();
    await lose('resetAfterProcessing');
    const id = idOf(await pay(credit()).expect(502));
    const rounds = await Promise.all(
      [worker, second].map((process) => process.get(ResolverService).runOnce()),
    );
    expect((await read(id)).outcome).toBe('confirmed');
    expect(await query('SELECT FROM settlement WHERE intent_id = $1', [id])).toHaveLength(1);
    expect(rounds.flatMap(({ verdicts }) => verdicts)).toHaveLength(1);
  });
});

import { INestApplicationContext } from '@nestjs/common';
import { loadConfig } from '../../../src/platform/config/config';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { momoItem } from '../../support/http/interface';
import supertest from '../../support/http/supertest';
import { answer, reset } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { reconcile, untilNow } from '../../support/reconciliation/reconciliation-scene';

const MAPPING = {
  upstream_ref: 'Name',
  amount_usd: 'Amount',
  issued_at: 'Date',
  status: 'State',
  reference: 'Reference',
  phone: 'To',
};

/** A statement has rows of lost payouts, whose references are our IDs. */
describe.each([true, false])('a run over a statement, with settling %s', (statementsSettle) => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let reconciler: string;
  let count = 0;
  let listed: object[] = [];

  beforeAll(async () => {
    paying = await startPaying({
      checkCoverage: false,
      duplicateGuard: false,
      resolverEverySeconds: 0,
      followUpEverySeconds: 0,
      reconciliation: { ...loadConfig({}).reconciliation, statementsSettle },
    });
    worker = await paying.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
    reconciler = (await paying.proxy.client('reconciler', 'reconcile', 'audit:pii')).key;
  });
  afterAll(() => paying.close());

  const item = momoItem();
  const { phoneNumber, valueInUSD } = item;
  const shown = (more: object = {}) => ({
    id: `id-${(count += 1)}`,
    chiRef: `ref-${count}`,
    issueID: `issue-${count}`,
    issueDate: new Date().toISOString(),
    type: 'mobile_money',
    status: 'paid',
    phoneNumber,
    valueInUSD: 3,
    ...more,
  });
  const answersWith = (...data: object[]) =>
    answer(200, { status: 'success', data: { data, error: 'None' } });
  const pay = async (behaviour = reset, more: object = {}) => {
    paying.upstream.behaviour = (request, response, socket) =>
      request.url.endsWith('/account/transactions')
        ? answer(200, { status: 'success', data: listed })(request, response, socket)
        : behaviour(request, response, socket);
    const body = { momos: [{ ...item, ...more }] };
    const { headers } = await paying.proxy.post(paying.app, '/payouts/mobile-money', body);
    return headers['x-call-id'] ?? '';
  };
  /** Lets the resolver find that payouts in doubt are not listed. */
  const resolve = async () => {
    const later = shown(); // shows that the listing is current
    await pay(answersWith(later), { valueInUSD: 3 });
    listed.push(shown({ issueDate: '2026-01-01T00:00:00Z' }), later);
    await worker.get(ResolverService).runOnce();
  };
  const row = (call: string, more: object = {}) => ({
    Name: `lost-${(count += 1)}`,
    Amount: String(valueInUSD),
    Date: new Date().toISOString(),
    State: 'paid',
    Reference: `${call}.0`,
    To: phoneNumber,
    ...more,
  });
  const importRows = async (rows: ReturnType<typeof row>[]) => {
    const file = [Object.values(MAPPING), ...rows.map((one) => Object.values(one))].join('\n');
    const { body } = await supertest(paying.proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: JSON.stringify(MAPPING) })
      .set({ 'X-API-Key': reconciler, 'Content-Type': 'text/csv' })
      .send(file)
      .expect(201);
    return body.read_id;
  };
  /** Returns the categories of findings. */
  const run = async (statement: string) => {
    const asking = { url: paying.proxy.url, key: reconciler };
    const { totals } = await reconcile(asking, { ...untilNow(), statement_id: statement });
    return Object.keys(totals?.findings.by_category ?? {});
  };
  const stateOf = async (id: string) =>
    (await paying.record({ headers: { 'x-call-id': id } })).items[0]?.state;

  const settlementsOf = (call: string) =>
    paying.proxy.database.query(
      `SELECT record::json ->> 'source' AS source, record::json #>> '{reads,0}' AS read
        FROM settlement WHERE intent_id = $1`,
      [call],
    );

  if (!statementsSettle) {
    it('settles nothing', async () => {
      const call = await pay();
      await run(await importRows([row(call)]));
      expect(await stateOf(call)).toBe('in_doubt');
      expect(await settlementsOf(call)).toEqual([]);
    });
    return;
  }

  // The first test, because the listing of the others lacks earlier transactions.
  it('settles a payout that was not executed, unless that was settled after the import', async () => {
    const before = await pay();
    await resolve();
    const after = await pay();
    const statement = await importRows([row(before), row(after)]);
    await resolve();
    expect([await stateOf(before), await stateOf(after)]).toEqual(['not_executed', 'not_executed']);
    expect(await run(statement)).toContain('status');
    expect([await stateOf(before), await stateOf(after)]).toEqual(['paid', 'not_executed']);
  });

  it('settles a payout in doubt by its certain match', async () => {
    const call = await pay();
    const statement = await importRows([row(call)]);
    await run(statement);
    expect(await stateOf(call)).toBe('paid');
    expect(await settlementsOf(call)).toEqual([{ source: 'reconciliation', read: statement }]);
  });

  it('leaves a settled payout to the listing, which shows it later', async () => {
    const call = await pay();
    const one = row(call);
    const statement = await importRows([one]);
    await run(statement);
    expect(await stateOf(call)).toBe('paid');
    const { Name: chiRef, Date: issueDate, Reference: reference } = one;
    listed = [shown({ chiRef, issueDate, reference, phoneNumber, valueInUSD, status: 'reversed' })];
    await worker.get(FollowUpService).runOnce();
    expect(await stateOf(call)).toBe('reversed');
    expect(await run(statement)).toContain('status');
    expect(await stateOf(call)).toBe('reversed');
  });

  it.each<[string, object, string[]]>([
    ['is no certain match', { Reference: '' }, []],
    ['gives the amount back', { State: 'failed' }, []],
    ['has no status word', { State: '' }, []],
    ['has another recipient', { To: '+254712345699' }, ['recipient']],
    ['has another amount', { Amount: '77' }, ['amount_over']],
  ])('changes nothing if the row %s', async (_, difference, findings) => {
    const call = await pay();
    const found = await run(await importRows([row(call, difference)]));
    expect(await stateOf(call)).toBe('in_doubt');
    expect(found).toEqual(expect.arrayContaining(findings));
  });

  it('changes nothing about a payout whose transaction is in the book', async () => {
    const named = shown({ phoneNumber, valueInUSD });
    const call = await pay(answersWith(named));
    const found = await run(await importRows([row(call, { Name: named.chiRef, State: 'failed' })]));
    expect(found).toContain('status');
    expect(await stateOf(call)).toBe('paid');
  });
});

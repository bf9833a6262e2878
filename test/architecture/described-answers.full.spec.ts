import { Decimal } from 'decimal.js';
import { v7 as uuidv7 } from 'uuid';
import { confirmedReply } from '../../src/gateway/forwarding/reply/reply';
import { LedgerItem } from '../../src/journal/settlement/ledger';
import { SCOPES } from '../../src/operations/catalogue/scopes';
import type { Answer, Method } from '../support/http/request';
import { schemaNamed, undescribedObjects, schemaOf, undescribed } from '../support/http/response-schemas';
import supertest from '../support/http/supertest';
import { answer, reset } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { airtime, eventually } from '../support/payments/paying';
import { runPlan, startRun } from '../support/reconciliation/comparison';
import { plant, PLANTED_SETTINGS } from '../support/reconciliation/planted-findings';

const FROM = new Date('2026-11-20T00:00:00Z');
const TO = new Date('2026-11-21T00:00:00Z');
const PAID = {
  status: 'success',
  data: {
    error: 'None',
    data: [{ chiRef: 'chi-1', id: 'id-1', issueID: 'issue-1', status: 'paid', valueInUSD: 2.5 }],
  },
};

/** Programs with types from the API documents must find what they describe, and nothing else. */
describe('a /v1 response', () => {
  let approving: ApprovalScene;
  let key: string;
  let ids: Record<
    'paid' | 'unknown' | 'held' | 'approved' | 'settled' | 'refused' | 'run' | 'statement' | 'stop',
    string
  >;

  beforeAll(async () => {
    approving = await startApproving();
    await approving.proxy.startWorker();
    const { proxy, app, upstream, approver } = approving;
    key = (await proxy.client('all', ...SCOPES)).key;
    const idOf = ({ headers }: Answer) => headers['x-call-id'] ?? '';
    upstream.behaviour = answer(200, PAID);
    const paid = idOf(await approving.pay().set('Idempotency-Key', 'k-1').set('X-Actor', 'ada').expect(200));
    const refused = idOf(await proxy.post(app, '/payouts/airtime', { airtimes: [{}] }).expect(400));
    await approving.query('UPDATE client SET daily_cap_usd = 100 WHERE id = $1', [approving.clientId]);
    const [held, approved] = [await approving.hold(), await approving.hold()];
    await approving.decide('approve', approved).expect(200);
    upstream.behaviour = reset;
    const inDoubt = async (phone: string) =>
      idOf(await proxy.post(app, '/payouts/airtime', airtime(phone)).expect(502));
    const [unknown, settled] = [await inDoubt('+254712345671'), await inDoubt('+254712345672')];
    await send(
      'post',
      `/v1/calls/${settled}/resolution`,
      { outcome: 'confirmed', reason: 'listed' },
      approver.key,
    );
    const stop = (await send('post', '/v1/stops', { operation: 'POST /send', reason: 'a test' }).expect(201))
      .body.id;
    const statement = await handIn('Ref,Amount\nchi-1,2.5\nchi-2,x\n', 201);
    ids = {
      paid,
      refused,
      held,
      approved,
      unknown,
      settled,
      stop,
      statement: statement.read_id,
      run: await compared(),
    };
    // Sealed, so that the proofs are there.
    await eventually(async () => (await proxy.get(app, `/v1/calls/${paid}/receipt`)).status === 200);
  });
  afterAll(() => approving.close());

  function send<Verb extends Method, const Path extends string>(
    method: Verb,
    path: Path,
    body?: object,
    by = key,
  ) {
    const request = supertest(approving.proxy.url)[method](path).set('X-API-Key', by);
    return body === undefined ? request : request.send(body);
  }

  async function handIn<Status extends 200 | 201>(file: string, status: Status) {
    const mapping = JSON.stringify({ upstream_ref: 'Ref', amount_usd: 'Amount' });
    const { body } = await send('post', '/v1/reconciliation/statements')
      .query({ mapping })
      .set('Content-Type', 'text/csv')
      .send(file)
      .expect(status);
    expect(undescribed(body, schemaOf('post', '/v1/reconciliation/statements', status))).toEqual([]);
    return body;
  }

  /** A run with findings of every category. */
  async function compared(): Promise<string> {
    const { database } = approving.proxy;
    const [readId, walletsReadId] = [uuidv7(), uuidv7()];
    await plant(database.ownerUrl, { items: 1_005, from: FROM, to: TO, readId, walletsReadId });
    const about = { from: FROM, to: TO, asOf: new Date(), readId, walletsReadId, settings: PLANTED_SETTINGS };
    const plan = await startRun(database, { ...about, historical: false, source: 'upstream' });
    await runPlan(database, plan);
    return plan.runId;
  }

  it.each<[string, (made: typeof ids) => string, ('app' | 'all')?]>([
    ['/v1/audit/calls', () => '?client=app&page_size=200'],
    ...(['paid', 'refused', 'held', 'approved', 'unknown', 'settled'] as const).map(
      (name) => ['/v1/audit/calls/{id}', (made: typeof ids) => `/${made[name]}`] as [string, typeof String],
    ),
    ['/v1/audit/items', () => '?client=app&page_size=200'],
    ...['day', 'client', 'operation', 'country', 'outcome'].map(
      (by) => ['/v1/audit/summary', () => `?group_by=${by}`] as [string, () => string],
    ),
    ['/v1/audit/shapes', () => ''],
    ['/v1/audit/status-words', () => ''],
    ['/v1/audit/accesses', () => ''],
    ['/v1/activity', () => ''],
    ['/v1/audit/log/proof', ({ paid }) => `?call=${paid}`],
    ['/v1/audit/log/consistency', () => '?from=1&to=2'],
    ['/v1/calls', () => '?page_size=200', 'app'],
    ...(['paid', 'refused', 'unknown'] as const).map(
      (name) =>
        ['/v1/calls/{id}', (made: typeof ids) => `/${made[name]}`, 'app'] as [string, typeof String, 'app'],
    ),
    ['/v1/calls/{id}/receipt', ({ paid }) => `/${paid}/receipt`, 'app'],
    ...['pending', 'approved'].map(
      (status) => ['/v1/approvals', () => `?status=${status}`] as [string, () => string],
    ),
    ['/v1/approvals/{call_id}', ({ held }) => `/${held}`],
    ['/v1/approvals/{call_id}', ({ approved }) => `/${approved}`],
    ['/v1/reconciliation/runs', () => ''],
    ['/v1/reconciliation/runs/{id}', ({ run }) => `/${run}`],
    ['/v1/reconciliation/runs/{id}/report', ({ run }) => `/${run}/report`],
    ['/v1/reconciliation/findings', () => '?state=any&page_size=200'],
    ['/v1/reconciliation/statements', () => ''],
    ['/v1/reconciliation/statements/{id}', ({ statement }) => `/${statement}`],
    ['/v1/stops', () => ''],
    ['/v1/stops', () => '?all=true'],
    ['/v1/clients', () => ''],
    ['/v1/clients/{name}', () => '/app'],
    ['/v1/clients/{name}/keys', () => '/app/keys'],
    ['/v1/operations', () => ''],
    ['/v1/limits', () => '', 'app'],
  ])('matches the OpenAPI document: GET %s', async (path, rest, by = 'all') => {
    const address = path.replace(/\/\{.*$/, '') + rest(ids);
    const { body } = await send('get', address, undefined, by === 'app' ? approving.app : key).expect(200);
    expect([address, undescribed(body, schemaOf('get', path))]).toEqual([address, []]);
  });

  it('matches the document for each category of findings and for decisions', async () => {
    const findings = new Map<string, string>();
    const { body } = await send('get', `/v1/reconciliation/runs/${ids.run}/report`).expect(200);
    for (const { category, id } of body.findings) findings.set(category, id);
    expect(findings.size).toBe(15);
    for (const id of findings.values()) {
      const decisions = [{ finding_id: id, state: 'explained', reason: 'known' }];
      const decided = await send('post', '/v1/reconciliation/findings/decisions', { decisions }).expect(200);
      expect(undescribed(decided.body, schemaOf('post', '/v1/reconciliation/findings/decisions'))).toEqual(
        [],
      );
      const { body: finding } = await send('get', `/v1/reconciliation/findings/${id}`).expect(200);
      expect([
        finding.category,
        undescribed(finding, schemaOf('get', '/v1/reconciliation/findings/{id}')),
      ]).toEqual([finding.category, []]);
    }
  });

  it('matches the document for changes', async () => {
    const made = await send('post', '/v1/clients', { name: 'made', scopes: ['pay'], daily_cap_usd: 1 });
    expect(undescribed(made.body, schemaOf('post', '/v1/clients', 201))).toEqual([]);
    const changed = await send('patch', '/v1/clients/made', {
      daily_cap_usd: 5,
      countries: ['Kenya'],
    }).expect(200);
    expect(undescribed(changed.body, schemaOf('patch', '/v1/clients/{name}'))).toEqual([]);
    const issued = await send('post', '/v1/clients/made/keys').expect(201);
    expect(undescribed(issued.body, schemaOf('post', '/v1/clients/{name}/keys', 201))).toEqual([]);
    const revoked = await send('delete', `/v1/clients/made/keys/${issued.body.id}`).expect(200);
    expect(undescribed(revoked.body, schemaOf('delete', '/v1/clients/{name}/keys/{id}'))).toEqual([]);
    const lifted = await send('delete', `/v1/stops/${ids.stop}`).expect(200);
    expect(undescribed(lifted.body, schemaOf('delete', '/v1/stops/{id}'))).toEqual([]);
    const activity = await send('get', '/v1/activity?page_size=200').expect(200);
    expect(undescribed(activity.body, schemaOf('get', '/v1/activity'))).toEqual([]);
    const rejected = await approving.decide('reject', await approving.hold()).expect(200);
    expect(undescribed(rejected.body, schemaOf('post', '/v1/approvals/{call_id}/reject'))).toEqual([]);
    const round = await send('post', '/v1/reconciliation/resolver/rounds').expect(200);
    expect(undescribed(round.body, schemaOf('post', '/v1/reconciliation/resolver/rounds'))).toEqual([]);
    await handIn('Ref,Amount\nchi-1,2.5\nchi-2,x\n', 200);
  });

  it('matches the document for replays without a stored response', async () => {
    await approving.query('DELETE FROM outcome_body WHERE intent_id = $1', [ids.paid]);
    const erased = await approving.pay().set('Idempotency-Key', 'k-1').set('X-Actor', 'ada').expect(200);
    const transaction = {
      upstream_ref: 'chi-1',
      upstream_id: 'id-1',
      batch_ref: null,
      at: FROM.toISOString(),
      status: 'paid',
    };
    const amounts = { amountUsd: new Decimal('2.5'), feeUsd: new Decimal(0), expectedFeeUsd: new Decimal(0) };
    const found: LedgerItem = {
      position: 0,
      entry: 'paid',
      ...amounts,
      transaction,
      reason: null,
      postings: [],
    };
    const confirmed = JSON.parse(confirmedReply(ids.settled, [found]).body.toString()) as object;
    for (const body of [erased.body, confirmed]) {
      expect(body).toMatchObject({ message: expect.any(String), call_id: expect.any(String) });
      expect(undescribed(body, schemaOf('post', '/api/v0.1/payouts/airtime'))).toEqual([]);
    }
  });

  it('matches the document for errors', async () => {
    for (const [status, path] of [
      [400, '/v1/audit/calls?page_size=0'],
      [404, '/v1/clients/nobody'],
    ] as const) {
      const { body } = await send('get', path).expect(status);
      expect(undescribed(body, schemaNamed('ProblemDetails'))).toEqual([]);
    }
  });

  it('declares its members, except for data of others', () => {
    expect(undescribedObjects()).toEqual([
      'LeafProof/record',
      'ReceiptRecord/record',
      'RecordMessage/body',
      'SampleAnswerDto/body',
      'SampleDto/body',
      'ShapeRecord/shape',
    ]);
  });
});

import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { Limits } from '../../../src/access/clients/limits/limits';
import { rowOf } from '../../../src/operations/catalogue/catalogue';
import { askAs, DOCUMENTED, OBSERVED } from '../../support/http/interface';
import supertest from '../../support/http/supertest';
import { answer, Behaviour } from '../../support/network/fake-upstream';
import { PreviewScene, serving, startPreviewing } from '../../support/payments/previewing';

const usd = (amount: string | number) => new Decimal(amount);
const REDEEM = '/redeem/airtime';
const LIST = 'POST /account/transactions';
const CREDIT = '7d9a2c11-5b1f-4a57-9a4e-0d8f6f2f1c55';
const SECOND = '2b0a8c3e-9d0b-4c54-8f55-2f6d0a4f8f22';
const redemption = (chiRef = CREDIT) => ({ chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' });
const transaction = (valueInUSD: unknown, chiRef = CREDIT) => ({
  id: `id-${chiRef.slice(0, 8)}`,
  chiRef,
  issueID: 'shop_500_1',
  issueDate: '2026-11-20T10:00:00Z',
  type: 'credit',
  status: 'paid',
  valueInUSD,
});
const REACHING = [...DOCUMENTED, ...OBSERVED].filter(({ operation }) => rowOf(operation).reach === 'account');

describe('operations that reach the whole upstream account', () => {
  let api: PreviewScene;
  let clients: ClientsService;

  beforeAll(async () => {
    api = await startPreviewing();
    clients = api.proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    api.upstream.received.length = 0;
    api.upstream.behaviour = serving;
  });

  /** An upstream that lists these transactions and answers a redemption with this answer. */
  const listing =
    (transactions: object[], redeemed: Behaviour = answer(200, { status: 'success', data: {} })): Behaviour =>
    (request, ...rest) => {
      if (request.url.endsWith('/account/transactions')) {
        return answer(200, { status: 'success', data: transactions })(request, ...rest);
      }
      return (request.url.endsWith(REDEEM) ? redeemed : serving)(request, ...rest);
    };
  const spentBy = async (id: string) => {
    const sql = 'SELECT trim_scale(usd)::text AS usd FROM spending WHERE client_id = $1';
    return (await api.proxy.database.query(sql, [id]))[0]?.usd;
  };
  const capped = (limits: Partial<Limits>) => api.client(limits);

  it('include wallets and sub-accounts', () => {
    expect(REACHING.map(({ operation }) => operation)).toEqual([
      'GET /wallets/list',
      'GET /sub-account/list',
      'GET /sub-account/get',
      'POST /wallets/lookup',
    ]);
  });

  it.each(REACHING)('reject $operation for a client without the scope, and send nothing', async (asking) => {
    const name = `without-${asking.operation.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`.slice(0, 40);
    const { key } = await clients.create(name, ['pay', 'write', 'read'], { operations: [asking.operation] });
    const { effect } = rowOf(asking.operation);
    const refused = await askAs(api.proxy, key, asking);
    expect([refused.status, refused.body.code]).toEqual([403, 'scope_missing']);
    expect(refused.body.error).toBe(
      `This operation requires a key with the scope ${effect} and the scope account. Your key has pay, ` +
        'write, read.',
    );
    if (effect !== 'read') {
      const preview = supertest(api.proxy.url).post(`/v1/preview${asking.path}`).set('X-API-Key', key);
      expect((await preview.send(asking.body).expect(403)).body.code).toBe('scope_missing');
    }
    expect(api.upstream.received).toEqual([]);
    await clients.update(name, { scopes: ['pay', 'write', 'read', 'account'] });
    expect((await askAs(api.proxy, key, asking)).status).toBe(200);
  });

  describe('that redeem', () => {
    it('reject a credit of 500 US dollars for a client with a cap of 1, and redeem nothing', async () => {
      const { id, key } = await capped({ dailyCapUsd: usd(1) });
      api.upstream.behaviour = listing([transaction(3, SECOND), transaction(500)]);
      const refused = await api.ask(key, REDEEM, redemption()).expect(403);
      expect(refused.body).toMatchObject({
        code: 'cap_exceeded',
        error: expect.stringContaining('daily cap is 1 US'),
      });
      expect([api.arrived(), await spentBy(id)]).toEqual([[LIST], undefined]);
      expect(await api.preview(key, REDEEM, redemption())).toMatchObject({
        would: 'be_refused',
        total_usd: '500',
        refusal: { code: 'cap_exceeded' },
        caps: { daily: { left_after_usd: '-499' } },
        items: [{ amount_usd: '500' }],
      });
      expect(api.arrived()).toEqual([LIST]); // the first lookup's answer is on record
    });

    it.each([
      ['largest item', { maxItemUsd: usd('499.99') }],
      ['largest call', { maxCallUsd: usd('499.99') }],
    ])('reject an amount over the %s', async (_what, limits) => {
      const { key } = await capped(limits);
      api.upstream.behaviour = listing([transaction('500')]);
      const { body } = await api.ask(key, REDEEM, redemption()).expect(403);
      expect(body.code).toBe('cap_exceeded');
      expect(api.arrived()).not.toContain(`POST ${REDEEM}`);
    });

    it('hold a redemption over the threshold, and send and count it once it is approved', async () => {
      const { id, key } = await capped({ approvalOverUsd: usd(100), dailyCapUsd: usd(600) });
      api.upstream.behaviour = listing([transaction('500')]);
      expect(await api.preview(key, REDEEM, redemption())).toMatchObject({
        would: 'wait_for_approval',
        approval: { reason: 'over_threshold' },
      });
      const held = await api.ask(key, REDEEM, redemption()).expect(202);
      expect([api.arrived().includes(`POST ${REDEEM}`), await spentBy(id)]).toEqual([false, undefined]);
      const { key: approver } = await api.proxy.client('approver', 'approve');
      const approve = supertest(api.proxy.url).post(`/v1/approvals/${held.body.call_id}/approve`);
      const approved = await approve.set('X-API-Key', approver).send({ reason: 'checked' }).expect(200);
      expect(approved.body).toMatchObject({ outcome: 'succeeded', total_usd: '500' });
      expect([api.arrived().filter((line) => line.endsWith(REDEEM)).length, await spentBy(id)]).toEqual([
        1,
        '500',
      ]);
      // The cap has 100 left.
      const again = await api.ask(key, REDEEM, { ...redemption(), meta: { again: true } }).expect(403);
      expect(again.body.code).toBe('cap_exceeded');
    });

    it('count a redeemed amount, and one in doubt after a rejection', async () => {
      const { id, key } = await capped({ dailyCapUsd: usd(10) });
      const chiRef = 'c0ffee00-0000-4000-8000-000000000001';
      api.upstream.behaviour = listing([transaction('4', chiRef)]);
      await api.ask(key, REDEEM, redemption(chiRef)).expect(200);
      expect(await spentBy(id)).toBe('4');
      api.upstream.behaviour = listing([], answer(400, { status: 'error', error: 'ERROR-REDEEMED' }));
      await api.ask(key, REDEEM, redemption(chiRef)).expect(400);
      expect(await spentBy(id)).toBe('8'); // until the transaction is looked up
      expect((await api.ask(key, REDEEM, redemption(chiRef)).expect(403)).body.code).toBe('cap_exceeded');
    });

    it("are limited by a person's own cap, although the client has no limit", async () => {
      const { id, key } = await capped({});
      const [chiRef, second] = ['7', '8'].map((n) => `c0ffee00-0000-4000-8000-00000000000${n}`) as [
        string,
        string,
      ];
      const ada = { 'X-Actor': 'ada' };
      await api.proxy.get(key, '/v1/limits').set(ada).expect(200);
      await api.proxy.database.query('UPDATE person SET daily_cap_usd = 5 WHERE client_id = $1', [id]);
      await api.proxy.database.query('UPDATE client SET name = name WHERE id = $1', [id]);
      api.upstream.behaviour = listing([transaction('4', chiRef), transaction('2', second)]);
      await api.ask(key, REDEEM, redemption(chiRef), ada).expect(200);
      const refused = await api.ask(key, REDEEM, redemption(second), ada).expect(403);
      expect(refused.body.error).toContain("This person's daily cap is 5 US dollars, with 1 ");
    });

    it('use the amount of an earlier answer without a request, and the largest of several', async () => {
      const { id, key } = await capped({ dailyCapUsd: usd(100) });
      const chiRef = 'c0ffee00-0000-4000-8000-000000000002';
      const paid = { status: 'success', data: { data: [transaction('7.5', chiRef)], error: 'None' } };
      api.upstream.behaviour = answer(200, paid);
      await api
        .ask(key, '/payouts/credit', { credits: [{ email: 'ada@example.com', valueInUSD: 7.5 }] })
        .expect(200);
      api.upstream.behaviour = listing([], answer(200, { status: 'success', data: transaction(1, chiRef) }));
      await api.ask(key, REDEEM, redemption(chiRef)).expect(200);
      expect(await spentBy(id)).toBe('15'); // one payment, one redemption
      await api.ask(key, REDEEM, redemption(chiRef)).expect(200);
      expect([await spentBy(id), api.arrived().includes(LIST)]).toEqual(['22.5', false]);
    });

    it.each([
      ['does not list the transaction', [transaction(5, SECOND)]],
      ['names no amount', [transaction(undefined)]],
      ['names a negative amount', [transaction(-500)]],
      ['names an invalid amount', [transaction('a lot')]],
    ])('reject a limited client if the upstream %s', async (_what, transactions) => {
      const chiRef = `c0ffee00-0000-4000-8000-00000000${_what.length}`;
      const { key } = await capped({ monthlyCapUsd: usd(1_000) });
      const renamed = transactions.map((one) => (one.chiRef === CREDIT ? { ...one, chiRef } : one));
      api.upstream.behaviour = listing(renamed);
      const { body } = await api.ask(key, REDEEM, redemption(chiRef)).expect(400);
      const detail = expect.stringContaining('must name a transaction whose amount is known');
      expect(body).toMatchObject({ code: 'amount_required', errors: [{ pointer: '/chiRef', detail }] });
      expect(await api.preview(key, REDEEM, redemption(chiRef))).toMatchObject({
        would: 'be_refused',
        refusal: { code: 'amount_required' },
        total_usd: null,
      });
      expect(api.arrived()).not.toContain(`POST ${REDEEM}`);
    });

    it('reject a limited client if the upstream is unreachable, and free the key', async () => {
      const chiRef = 'c0ffee00-0000-4000-8000-000000000003';
      const { id, key } = await capped({ dailyCapUsd: usd(10) });
      const headers = { 'Idempotency-Key': 'redeem-1' };
      api.upstream.behaviour = answer(500, { status: 'error', error: 'later' });
      const refused = await api.ask(key, REDEEM, redemption(chiRef), headers).expect(503);
      expect(refused.body.code).toBe('upstream_unreachable');
      expect((await api.preview(key, REDEEM, redemption(chiRef))).refusal!.code).toBe('upstream_unreachable');
      expect(api.arrived()).not.toContain(`POST ${REDEEM}`);
      api.upstream.behaviour = listing([transaction(2, chiRef)]);
      const redeemed = await api.ask(key, REDEEM, redemption(chiRef), headers).expect(200);
      api.upstream.behaviour = answer(500, { status: 'error', error: 'later' });
      const replayed = await api.ask(key, REDEEM, redemption(chiRef), headers).expect(200);
      expect(replayed.headers['x-call-id']).toBe(redeemed.headers['x-call-id']);
      expect(await spentBy(id)).toBe('2');
    });

    it('record the lookup as a read caused by the call, with the transaction alone', async () => {
      const chiRef = 'c0ffee00-0000-4000-8000-000000000004';
      const { key } = await capped({ dailyCapUsd: usd(10) });
      api.upstream.behaviour = listing([transaction(2, chiRef), transaction(3, SECOND)]);
      const { headers } = await api.ask(key, REDEEM, redemption(chiRef)).expect(200);
      const rows = await api.proxy.database.query<{ id: string }>(
        `SELECT i.id, i.operation, o.kind, o.record::json ->> 'body_commitment' AS body_commitment,
          (SELECT count(*)::integer FROM outcome_item x WHERE x.intent_id = i.id) AS items
         FROM intent i JOIN outcome o ON o.intent_id = i.id
         WHERE i.record::json ->> 'caused_by' = $1 AND i.operation = $2`,
        [headers['x-call-id'], LIST],
      );
      expect(rows).toMatchObject([{ operation: LIST, kind: 'succeeded', body_commitment: null, items: 1 }]);
      const { body } = await api.proxy.get(api.auditor, `/v1/audit/calls/${rows[0]?.id}`).expect(200);
      expect(body).toMatchObject({ outcome: 'succeeded', anomalies: [] });
    });

    it('send no lookup for a client without a limit in US dollars, and count known amounts', async () => {
      const { id, key } = await api.client();
      await api.ask(key, REDEEM, redemption('c0ffee00-0000-4000-8000-000000000005')).expect(200);
      expect([api.arrived(), await spentBy(id)]).toEqual([[`POST ${REDEEM}`], undefined]);
      await api.ask(key, REDEEM, redemption('c0ffee00-0000-4000-8000-000000000004')).expect(200);
      expect(await spentBy(id)).toBe('2');
    });
  });
});

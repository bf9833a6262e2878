import { INestApplicationContext } from '@nestjs/common';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { changeIdOf, changeRequests } from '../../support/access/change-requests';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { answer, Behaviour, reset } from '../../support/network/fake-upstream';
import { airtime, eventually, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { Transaction } from '../../support/reconciliation/lying-ledger';

/** Rule `person`: a person knows the transaction of a payout, where no other rule does. */
describe.each([false, true])('an attribution by a person with dual control %s', (dualControl) => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let ada: string;
  let listed: Transaction[] = [];
  let count = 0;
  const approvers: Record<string, string> = {};

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    paying = await startPaying({ dualControl, resolverQuietSeconds: 3_600, ...never });
    worker = await paying.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 3_600_000;
    const clients = paying.proxy.app.get(ClientsService, { strict: false });
    ada = (await clients.issueKey('app', { person: 'ada' })).key;
    await clients.create('approver', ['approve', 'audit']);
    for (const person of ['grace', 'hopper', 'ada'])
      approvers[person] = (await clients.issueKey('approver', { person })).key;
  });
  afterAll(() => paying.close());
  beforeEach(() => (listed = []));

  const { decide } = changeRequests(() => paying.proxy.url);
  const by = (person: string) => approvers[person] ?? '';
  const shown = (more: Partial<Transaction> = {}): Transaction => ({
    id: `id-${dualControl}-${(count += 1)}`,
    chiRef: `ref-${dualControl}-${count}`,
    issueID: `issue-${dualControl}-${count}`,
    issueDate: new Date().toISOString(),
    type: 'airtime',
    status: 'paid',
    phoneNumber: PHONE,
    valueInUSD: 2.5,
    ...more,
  });
  const answersWith = (...data: Transaction[]): Behaviour =>
    answer(200, { status: 'success', data: { data, error: 'None' } });
  const pay = async (payout: Behaviour, phone = PHONE) => {
    paying.upstream.behaviour = (request, response, socket) =>
      request.url.endsWith('/account/transactions')
        ? answer(200, { status: 'success', data: listed })(request, response, socket)
        : payout(request, response, socket);
    const { headers } = await paying.proxy.post(ada, '/payouts/airtime', airtime(phone));
    return headers['x-call-id'] ?? '';
  };
  const follow = () => worker.get(FollowUpService).runOnce();
  const resolve = () => worker.get(ResolverService).runOnce();
  const read = async (id: string) =>
    (await paying.proxy.get(by('grace'), `/v1/audit/calls/${id}` as '/v1/audit/calls/{id}').expect(200)).body;
  const stateOf = async (id: string) => (await read(id)).items[0]?.state;
  const find = async ({ id }: Transaction) => {
    const path = `/v1/reconciliation/transactions?name=${id}` as '/v1/reconciliation/transactions';
    const { body } = await paying.proxy.get(by('grace'), path).expect(200);
    return body.transactions[0]!;
  };
  const ask = async (call: string, one: Transaction, supersedes: string[] = [], person = 'grace') =>
    supertest(paying.proxy.url)
      .post('/v1/reconciliation/attributions')
      .set('X-API-Key', by(person))
      .send({
        payout_id: `${call}.0`,
        transaction_id: (await find(one)).id,
        reason: 'Case 17',
        ...(supersedes.length > 0 && { supersedes: supersedes.map((id) => `${id}.0`) }),
      });
  /** Attributes with as many persons as needed. */
  const attribute = async (call: string, one: Transaction, supersedes: string[] = []) => {
    const asked = await ask(call, one, supersedes);
    expect(asked.status).toBe(dualControl ? 202 : 200);
    if (dualControl) await decide(by('hopper'), changeIdOf(asked)).expect(200);
  };
  const acts = async (action: string) => {
    const path = `/v1/activity?action=${action}` as '/v1/activity';
    return (await paying.proxy.get(by('grace'), path).expect(200)).body.activity;
  };

  it('settles a doubt, and the state follows from the transaction', async () => {
    const one = shown({ valueInUSD: 4 });
    listed = [one];
    const call = await pay(reset);
    await resolve();
    expect(await stateOf(call)).toBe('in_doubt');
    await attribute(call, one);
    const { settlements, items } = await read(call);
    expect(items).toMatchObject([{ state: 'paid' }]);
    expect(settlements).toMatchObject([{ source: 'person', recorded_by: { actor: 'grace' } }]);
    expect(settlements[0]?.reason).toContain('Case 17');
    expect(await find(one)).toMatchObject({ payout_id: `${call}.0`, ground: 'person' });
    expect((await acts('transaction_attributed'))[0]).toMatchObject({
      by: { actor: dualControl ? 'hopper' : 'grace' },
      after: { payout_id: `${call}.0`, upstream_id: one.id, amount_usd: '2.5', listed_usd: '4' },
    });
    await resolve();
    await follow();
    expect(await stateOf(call)).toBe('paid');
    one.status = 'reversed';
    await follow();
    expect(await stateOf(call)).toBe('reversed');
  });

  it('corrects a wrong attribution, whatever its ground', async () => {
    const [named, right] = [shown(), shown({ status: 'failed' })];
    listed = [named, right];
    const call = await pay(answersWith(named));
    await follow();
    expect(await stateOf(call)).toBe('paid');
    await attribute(call, right, [call]);
    expect(await stateOf(call)).toBe('failed');
    expect([await find(named), await find(right)]).toMatchObject([
      { payout_id: null, ground: null },
      { payout_id: `${call}.0`, ground: 'person' },
    ]);
    const alarms = (await acts('transaction_contradicted')).length;
    await follow();
    expect(await stateOf(call)).toBe('failed');
    expect(await acts('transaction_contradicted')).toHaveLength(alarms);
  });

  it('takes a transaction from a payout that only its likeness gave it, which is in doubt then', async () => {
    const one = shown({ phoneNumber: '+254712345684' });
    listed = [one];
    const first = await pay(reset, one.phoneNumber);
    const second = await pay(reset, one.phoneNumber);
    await resolve();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['paid', 'in_doubt']);
    const alarms = (await acts('transaction_contradicted')).length;
    await attribute(second, one, [first]);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['in_doubt', 'paid']);
    listed.push(shown({ phoneNumber: one.phoneNumber, status: 'failed' }));
    worker.get(PollService).rules.quietMs = 0;
    await resolve();
    worker.get(PollService).rules.quietMs = 3_600_000;
    expect([await stateOf(first), await stateOf(second)]).toEqual(['failed', 'paid']);
    expect(await acts('transaction_contradicted')).toHaveLength(alarms);
  });

  it('is refused with every contradiction', async () => {
    const [one, other] = [shown(), shown({ phoneNumber: '+254712345685', type: 'mobile_money' })];
    listed = [one, other];
    const owner = await pay(answersWith(one));
    const doubtful = await pay(reset, '+254712345686');
    await resolve();
    const refused = async (call: string, transaction: Transaction, supersedes: string[] = []) => {
      const { body, status } = await ask(call, transaction, supersedes);
      expect({ status, code: (body as { code: string }).code }).toEqual({
        status: 409,
        code: 'attribution_contradicted',
      });
      return (body as { errors: { pointer: string; detail: string }[] }).errors;
    };
    const detail = (text: string) => expect.stringContaining(text);
    expect(await refused(doubtful, one)).toEqual([
      { pointer: '/transaction_id', detail: detail('to the recipient') },
      { pointer: '/transaction_id', detail: detail(`attribute the transaction of ${owner}.0 first`) },
      { pointer: '/supersedes', detail: detail(`${owner}.0`) },
    ]);
    expect(await refused(owner, other, [doubtful])).toEqual([
      { pointer: '/transaction_id', detail: detail('to the recipient') },
      { pointer: '/transaction_id', detail: detail('of the type') },
      { pointer: '/supersedes', detail: detail(`${owner}.0`) },
      { pointer: '/supersedes', detail: detail('only payouts that lose') },
    ]);
    expect(await refused(owner, one, [owner])).toMatchObject([{ detail: detail('has this one already') }]);
    expect([await stateOf(owner), await stateOf(doubtful)]).toEqual(['paid', 'in_doubt']);
  });

  it('is refused to the requester of a payout, and without a listing of the transaction', async () => {
    const [named, unlisted] = [shown(), shown()];
    listed = [named];
    const first = await pay(answersWith(named));
    await pay(answersWith(unlisted));
    const { body } = await ask(first, named, [], 'ada');
    expect(body).toMatchObject({ code: 'own_approval' });
    const asked = await ask(first, unlisted, [first]);
    expect(asked.body).toMatchObject({
      code: 'attribution_contradicted',
      errors: [{ detail: expect.stringContaining('must be known by its listing') }, {}, {}],
    });
  });

  if (dualControl) {
    it('is never approved by a requester, and is superseded by a change of either side', async () => {
      const [one, other] = [shown({ valueInUSD: 4 }), shown({ valueInUSD: 5 })];
      listed = [one, other];
      const call = await pay(reset, '+254712345687');
      for (const transaction of listed) transaction.phoneNumber = '+254712345687';
      await resolve();
      const [first, second] = [await ask(call, one), await ask(call, other)];
      for (const person of ['grace', 'ada'])
        expect((await decide(by(person), changeIdOf(first)).expect(403)).body).toMatchObject({
          code: 'own_approval',
        });
      const { body } = await paying.proxy.get(by('hopper'), '/v1/changes').expect(200);
      expect(body.changes).toMatchObject([
        {},
        {
          kind: 'attribute_transaction',
          expands: ['payouts'],
          after: { payout_id: `${call}.0`, upstream_id: one.id, amount_usd: '2.5', listed_usd: '4' },
        },
      ]);
      expect(await stateOf(call)).toBe('in_doubt');
      await decide(by('hopper'), changeIdOf(first)).expect(200);
      const superseded = await decide(by('hopper'), changeIdOf(second)).expect(409);
      expect(superseded.body).toMatchObject({ code: 'change_superseded' });
      expect(await stateOf(call)).toBe('paid');
      expect(await find(other)).toMatchObject({ payout_id: null });
    });
  }

  it('is superseded if another process attributes a transaction to the payout meanwhile', async () => {
    listed = [shown({ valueInUSD: 4 }), shown({ valueInUSD: 3 })];
    const [one, other] = listed as [Transaction, Transaction];
    const call = await pay(reset);
    await resolve();
    const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
    const { id } = await find(other);
    const asked = dualControl ? await ask(call, one) : undefined;
    await query('BEGIN');
    await query(
      `UPDATE book_transaction SET call_id = $1, position = 0, ground = 'own_id', attributed_at = now()
       WHERE id = $2`,
      [call, id],
    );
    const deciding = (asked ? decide(by('hopper'), changeIdOf(asked)) : ask(call, one)).then((done) => done);
    const waiting = `SELECT FROM pg_locks WHERE NOT granted AND pid IN (
      SELECT pid FROM pg_stat_get_activity(NULL) WHERE datid = (
        SELECT oid FROM pg_database WHERE datname = current_database()))`;
    await eventually(async () => (await query(waiting)).length > 0);
    await query('COMMIT');
    const { status, body } = await deciding;
    expect([status, body.code]).toEqual([409, 'resolution_superseded']);
    expect(await find(one)).toMatchObject({ payout_id: null });
  });
});

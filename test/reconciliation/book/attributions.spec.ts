import { ClientsService } from '../../../src/access/clients/clients.service';
import { changeIdOf, changeRequests } from '../../support/access/change-requests';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { reset } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { answersWith, LyingLedger, Transaction } from '../../support/reconciliation/lying-ledger';

/** Rule `person`: a person knows the transaction of a payout, where no other rule does. */
describe.each([false, true])('an attribution by a person with dual control %s', (dualControl) => {
  let ledger: LyingLedger;
  const approvers: Record<string, string> = {};

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    ledger = await LyingLedger.start({ dualControl, duplicateGuard: false, ...never });
    const clients = ledger.paying.proxy.app.get(ClientsService, { strict: false });
    ledger.key = (await clients.issueKey('app', { person: 'ada' })).key;
    await clients.create('approver', ['approve', 'audit']);
    for (const person of ['grace', 'hopper', 'ada'])
      approvers[person] = (await clients.issueKey('approver', { person })).key;
  });
  afterAll(() => ledger.paying.close());
  beforeEach(() => (ledger.transactions = []));

  const { decide } = changeRequests(() => ledger.paying.proxy.url);
  const by = (person: string) => approvers[person] ?? '';
  const read = async (id: string) =>
    (
      await ledger.paying.proxy
        .get(by('grace'), `/v1/audit/calls/${id}` as '/v1/audit/calls/{id}')
        .expect(200)
    ).body;
  const find = async ({ id }: Transaction) => {
    const path = `/v1/reconciliation/transactions?name=${id}` as '/v1/reconciliation/transactions';
    const { body } = await ledger.paying.proxy.get(by('grace'), path).expect(200);
    return body.transactions[0]!;
  };
  const ask = async (call: string, one: Transaction, supersedes: string[] = [], person = 'grace') =>
    supertest(ledger.paying.proxy.url)
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
    return (await ledger.paying.proxy.get(by('grace'), path).expect(200)).body.activity;
  };

  it('settles a doubt, and the state follows from the transaction', async () => {
    const one = ledger.shown({ valueInUSD: 4 });
    ledger.transactions = [one];
    const call = await ledger.pay(reset);
    await ledger.round();
    expect(await ledger.stateOf(call)).toBe('in_doubt');
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
    await ledger.round();
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('paid');
    one.status = 'reversed';
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('reversed');
  });

  it('corrects a wrong attribution, whatever its ground', async () => {
    const [named, right] = [ledger.shown(), ledger.shown({ status: 'failed' })];
    ledger.transactions = [named, right];
    const call = await ledger.pay(answersWith(named));
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('paid');
    await attribute(call, right, [call]);
    expect(await ledger.stateOf(call)).toBe('failed');
    expect([await find(named), await find(right)]).toMatchObject([
      { payout_id: null, ground: null },
      { payout_id: `${call}.0`, ground: 'person' },
    ]);
    const alarms = (await acts('transaction_contradicted')).length;
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('failed');
    expect(await acts('transaction_contradicted')).toHaveLength(alarms);
  });

  it('takes a transaction from a payout that only its likeness gave it, which is in doubt then', async () => {
    const one = ledger.shown({ phoneNumber: '+254712345684' });
    ledger.transactions = [one];
    const first = await ledger.pay(reset, one.phoneNumber);
    const second = await ledger.pay(reset, one.phoneNumber);
    await ledger.round();
    expect(await ledger.statesOf(first, second)).toEqual(['paid', 'in_doubt']);
    const alarms = (await acts('transaction_contradicted')).length;
    await attribute(second, one, [first]);
    expect(await ledger.statesOf(first, second)).toEqual(['in_doubt', 'paid']);
    ledger.transactions.push(ledger.shown({ phoneNumber: one.phoneNumber, status: 'failed' }));
    ledger.quiet({ quietMs: 0 });
    await ledger.round();
    ledger.quiet({ quietMs: 3_600_000 });
    expect(await ledger.statesOf(first, second)).toEqual(['failed', 'paid']);
    expect(await acts('transaction_contradicted')).toHaveLength(alarms);
  });

  it('is refused with every contradiction', async () => {
    const [one, other] = [
      ledger.shown(),
      ledger.shown({ phoneNumber: '+254712345685', type: 'mobile_money' }),
    ];
    ledger.transactions = [one, other];
    const owner = await ledger.pay(answersWith(one));
    const doubtful = await ledger.pay(reset, '+254712345686');
    await ledger.round();
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
    expect(await ledger.statesOf(owner, doubtful)).toEqual(['paid', 'in_doubt']);
  });

  it('is refused to the requester of a payout, and without a listing of the transaction', async () => {
    const [named, unlisted] = [ledger.shown(), ledger.shown()];
    ledger.transactions = [named];
    const first = await ledger.pay(answersWith(named));
    await ledger.pay(answersWith(unlisted));
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
      const [one, other] = [ledger.shown({ valueInUSD: 4 }), ledger.shown({ valueInUSD: 5 })];
      ledger.transactions = [one, other];
      const call = await ledger.pay(reset, '+254712345687');
      for (const transaction of ledger.transactions) transaction.phoneNumber = '+254712345687';
      await ledger.round();
      const [first, second] = [await ask(call, one), await ask(call, other)];
      for (const person of ['grace', 'ada'])
        expect((await decide(by(person), changeIdOf(first)).expect(403)).body).toMatchObject({
          code: 'own_approval',
        });
      const { body } = await ledger.paying.proxy.get(by('hopper'), '/v1/changes').expect(200);
      expect(body.changes).toMatchObject([
        {},
        {
          kind: 'attribute_transaction',
          expands: ['payouts'],
          after: { payout_id: `${call}.0`, upstream_id: one.id, amount_usd: '2.5', listed_usd: '4' },
        },
      ]);
      expect(await ledger.stateOf(call)).toBe('in_doubt');
      await decide(by('hopper'), changeIdOf(first)).expect(200);
      const superseded = await decide(by('hopper'), changeIdOf(second)).expect(409);
      expect(superseded.body).toMatchObject({ code: 'change_superseded' });
      expect(await ledger.stateOf(call)).toBe('paid');
      expect(await find(other)).toMatchObject({ payout_id: null });
    });
  }

  it('is superseded if another process attributes a transaction to the payout meanwhile', async () => {
    ledger.transactions = [ledger.shown({ valueInUSD: 4 }), ledger.shown({ valueInUSD: 3 })];
    const [one, other] = ledger.transactions as [Transaction, Transaction];
    const call = await ledger.pay(reset);
    await ledger.round();
    const query: TestDatabase['query'] = (sql, parameters) =>
      ledger.paying.proxy.database.query(sql, parameters);
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

import { ClientsService } from '../../src/access/clients/clients.service';
import { changeIdOf, changeRequests } from '../support/access/change-requests';
import supertest from '../support/http/supertest';
import { reset, succeed } from '../support/network/fake-upstream';
import { AIRTIME, PaymentScene, startPaying } from '../support/payments/paying';

/** A settlement that gives an amount or a key back lets the client pay more. */
describe('a settlement by hand with dual control', () => {
  let paying: PaymentScene;
  let ada: string;
  /** Keys of approvers. Ada is the requester of each call. */
  const approvers: Record<string, string> = {};
  let admin: string;

  beforeAll(async () => {
    paying = await startPaying({ dualControl: true, duplicateGuard: false });
    const clients = paying.proxy.app.get(ClientsService, { strict: false });
    ada = (await clients.issueKey('app', { person: 'ada' })).key;
    await clients.create('approver', ['approve', 'audit']);
    for (const person of ['grace', 'hopper', 'ada'])
      approvers[person] = (await clients.issueKey('approver', { person })).key;
    await clients.create('admin', ['admin', 'audit']);
    admin = (await clients.issueKey('admin', { person: 'alan' })).key;
  });
  afterAll(() => paying.close());

  const { decide } = changeRequests(() => paying.proxy.url);
  const by = (person: string) => approvers[person] ?? '';
  const payInDoubt = async (body = AIRTIME) => {
    paying.upstream.behaviour = reset;
    const { headers } = await paying.proxy.post(ada, '/payouts/airtime', body).expect(502);
    return headers['x-call-id'] ?? '';
  };
  const pay = async () => {
    paying.upstream.behaviour = succeed;
    const { headers } = await paying.proxy.post(ada, '/payouts/airtime', AIRTIME).expect(200);
    return headers['x-call-id'] ?? '';
  };
  const settle = (id: string, outcome: string, more: object = {}, person = 'grace') =>
    supertest(paying.proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', by(person))
      .send({ outcome, reason: 'Case 17', ...more });
  const read = async (id: string) =>
    (await paying.proxy.get(by('grace'), `/v1/audit/calls/${id}` as '/v1/audit/calls/{id}').expect(200)).body;
  const spent = async () =>
    Number((await paying.proxy.database.query('SELECT coalesce(sum(usd), 0) AS usd FROM spending'))[0]?.usd);

  it('waits for a second person if it gives an amount back', async () => {
    const id = await payInDoubt();
    const before = await spent();
    const asked = await settle(id, 'not_executed').expect(202);
    expect(asked.body).toMatchObject({ status: 'pending_approval', change_id: expect.any(String) });
    expect(await read(id)).toMatchObject({ outcome: 'unknown', settlements: [] });
    expect(await spent()).toBe(before);
    const { body: list } = await paying.proxy.get(by('hopper'), '/v1/changes').expect(200);
    expect(list.changes[0]).toMatchObject({
      id: changeIdOf(asked),
      kind: 'settle_payouts',
      client: null,
      expands: ['payouts'],
      before: null,
      after: { call_id: id, outcome: 'not_executed', amount_usd: '2.5' },
      reason: 'Case 17',
      requested_by: { person: 'grace' },
      is_own: false,
    });
    await decide(by('hopper'), changeIdOf(asked)).expect(200);
    expect(await read(id)).toMatchObject({
      outcome: 'not_executed',
      items: [{ state: 'not_executed' }],
      settlements: [
        {
          source: 'person',
          reason: `Case 17 (change ${changeIdOf(asked)})`,
          recorded_by: { client: { name: 'approver' }, actor: 'grace' },
        },
      ],
    });
    expect(await spent()).toBe(before - 2.5);
    const { body: acts } = await paying.proxy.get(by('grace'), '/v1/activity?page_size=2').expect(200);
    expect(acts.activity).toMatchObject([
      { action: 'change_approved', by: { actor: 'hopper' }, after: { change_id: changeIdOf(asked) } },
      { action: 'change_requested', by: { actor: 'grace' }, reason: 'Case 17', after: { call_id: id } },
    ]);
  });

  it('applies at once if it gives nothing back', async () => {
    const id = await payInDoubt();
    await settle(id, 'confirmed').expect(200);
    expect(await read(id)).toMatchObject({ outcome: 'confirmed', items: [{ state: 'paid' }] });
  });

  it.each(['failed', 'reversed', 'refunded', 'not_executed'])(
    'waits if it corrects an answer to %s',
    async (outcome) => {
      const id = await pay();
      const asked = await settle(id, outcome, { supersedes: id, payouts: [`${id}.0`] }).expect(202);
      expect(await read(id)).toMatchObject({ outcome: 'succeeded', items: [{ state: 'paid' }] });
      await decide(by('hopper'), changeIdOf(asked)).expect(200);
      expect(await read(id)).toMatchObject({ items: [{ state: outcome }] });
    },
  );

  it('is never approved by its requester or by the requester of the call', async () => {
    const id = await payInDoubt();
    expect((await settle(id, 'not_executed', {}, 'ada').expect(403)).body.code).toBe('own_approval');
    const asked = await settle(id, 'not_executed').expect(202);
    const { body: list } = await paying.proxy.get(by('ada'), '/v1/changes').expect(200);
    expect(list.changes[0]).toMatchObject({ id: changeIdOf(asked), is_own: true });
    for (const person of ['grace', 'ada']) {
      const { body } = await decide(by(person), changeIdOf(asked)).expect(403);
      expect(body).toMatchObject({ code: 'own_approval' });
    }
    expect(await read(id)).toMatchObject({ outcome: 'unknown' });
  });

  it('is decided only with the scope approve, which decides nothing else', async () => {
    const id = await payInDoubt();
    const asked = await settle(id, 'not_executed').expect(202);
    for (const decision of ['approve', 'reject'] as const) {
      const { body } = await decide(admin, changeIdOf(asked), decision).expect(404);
      expect(body).toMatchObject({ code: 'change_not_found' });
    }
    const { body: shown } = await paying.proxy.get(admin, '/v1/changes').expect(200);
    expect(shown.changes).toEqual([]);
    const { issue } = changeRequests(() => paying.proxy.url);
    const key = await issue(admin, 'app').expect(202);
    expect((await decide(by('hopper'), changeIdOf(key)).expect(404)).body).toMatchObject({
      code: 'change_not_found',
    });
    await decide(by('hopper'), changeIdOf(asked), 'reject').expect(200);
    expect(await read(id)).toMatchObject({ outcome: 'unknown' });
  });

  it('is superseded by any settlement of the call since the request', async () => {
    const { airtimes } = AIRTIME;
    const id = await payInDoubt({ airtimes: [...airtimes, ...airtimes] });
    const asked = await settle(id, 'not_executed').expect(202);
    await settle(id, 'confirmed', { payouts: [`${id}.0`] }).expect(200);
    const { body } = await decide(by('hopper'), changeIdOf(asked)).expect(409);
    expect(body).toMatchObject({ code: 'change_superseded' });
    expect(await read(id)).toMatchObject({ items: [{ state: 'paid' }, { state: 'in_doubt' }] });
  });
});

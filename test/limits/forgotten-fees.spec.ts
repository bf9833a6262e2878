import { ClientsService } from '../../src/access/clients/clients.service';
import supertest from '../support/http/supertest';
import { hang } from '../support/network/fake-upstream';
import { FEE_OPERATION, FeeScene, paysFor } from '../support/payments/fee-scene';
import { TestProxy } from '../support/processes/proxy';

/** Operators see what is reserved, and end the reservation of a mistake. */
describe('learned fees', () => {
  let scene: FeeScene;

  beforeEach(async () => void (scene = await FeeScene.start()));
  afterEach(() => scene.close());

  const learn = async (proxy: TestProxy, key: string) => {
    scene.upstream.behaviour = paysFor(0.05);
    for (const usd of [1, 1.2, 1.9]) await scene.pay(proxy, key, usd).expect(200);
  };
  const forget = ({ url }: TestProxy, key: string, operation: string = FEE_OPERATION, account = 'main') =>
    supertest(url)
      .delete(`/v1/fees/${account}?${queryOf(operation)}` as '/v1/fees/{account}')
      .set('X-API-Key', key);
  const queryOf = (operation: string) => new URLSearchParams({ operation, reason: 'mistake' }).toString();
  const LEARNED = {
    account: 'main',
    operation: FEE_OPERATION,
    from_usd: '1',
    below_usd: '2',
    fee_usd: '0.05',
  };

  it('are forgotten by every instance at once, and learned anew', async () => {
    const [one, other] = [await scene.running(), await scene.running()];
    const [{ id, key }, admin] = [await scene.client(one, 100), await one.client('admin', 'admin', 'audit')];
    await learn(one, key);
    expect(await scene.expected(other, key, 1)).toBe('0.05');
    const { body } = await forget(one, admin.key).expect(200);
    expect(body).toMatchObject({ forgotten: [{ ...LEARNED, calls: 3 }] });
    const before = Number(await scene.spent(id));
    scene.upstream.behaviour = hang;
    for (const proxy of [other, one]) await scene.pay(proxy, key, 1).expect(504);
    expect(Number(await scene.spent(id))).toBeCloseTo(before + 2, 6);
    expect((await forget(other, admin.key).expect(404)).body.code).toBe('fees_not_found');
    await learn(other, key);
    expect(await scene.expected(one, key, 1)).toBe('0.05');
    const { body: acts } = await one.get(admin.key, '/v1/activity?action=fees_forgotten').expect(200);
    expect(acts.activity).toMatchObject([
      {
        action: 'fees_forgotten',
        reason: 'mistake',
        before: { account: 'main', operation: FEE_OPERATION, learned_fees: ['1-2: 0.05'] },
        after: { learned_fees: [] },
      },
    ]);
  });

  it('are listed, unless the operation has a rule', async () => {
    const [learning, configured] = [await scene.running(), await scene.running('<10:0.20,1%')];
    const [{ key }, admin] = [await scene.client(learning, 100), await learning.client('admin', 'admin')];
    await learn(learning, key);
    const list = async (proxy: TestProxy) => (await proxy.get(admin.key, '/v1/fees').expect(200)).body.fees;
    const [{ day } = { day: '' }] = await scene.database.query<{ day: string }>(
      'SELECT day::text FROM call_fee',
    );
    expect(await list(learning)).toEqual([{ ...LEARNED, rule: null, calls: 3, last_charged_on: day }]);
    const [of, none] = [
      { account: 'main', operation: FEE_OPERATION },
      { calls: null, last_charged_on: null },
    ];
    const size = { from_usd: null, below_usd: null, fee_usd: null };
    expect(await list(configured)).toEqual([{ ...of, rule: '<10:0.2,1%', ...size, ...none }]);
    expect(await scene.expected(configured, key, 1)).toBe('0.2');
    await learning.get(key, '/v1/fees').expect(403);
    await forget(learning, key).expect(403);
    await forget(learning, admin.key, 'GET /info/assets').expect(400);
    await forget(learning, admin.key, FEE_OPERATION, 'kenya').expect(404);
  });

  it('are forgotten by two people with dual control', async () => {
    const proxy = await scene.runningWith({ dualControl: true });
    const { key } = await scene.client(proxy, 100);
    const clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('admin', ['admin', 'audit']);
    const ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    const bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    const decide = (by: string, id: string) =>
      scene.own(proxy, by, `/v1/changes/${id}/approve`, { reason: 'agreed' });
    const request = async () => (await forget(proxy, ada).expect(202)).body as { change_id: string };
    await learn(proxy, key);
    const [first, second] = [await request(), await request()];
    expect(await scene.expected(proxy, key, 1)).toBe('0.05');
    const { body } = await proxy.get(bob, '/v1/changes').expect(200);
    expect(body.changes[1]).toMatchObject({
      id: first.change_id,
      kind: 'forget_fees',
      client: null,
      expands: ['fees'],
      after: { account: 'main', operation: FEE_OPERATION },
    });
    await decide(ada, first.change_id).expect(403);
    await decide(bob, first.change_id).expect(200);
    expect(await scene.expected(proxy, key, 1)).toBeNull();
    const superseded = await decide(bob, second.change_id).expect(409);
    expect(superseded.body).toMatchObject({ code: 'change_superseded' });
    await forget(proxy, ada).expect(404);
    const { body: acts } = await proxy.get(bob, '/v1/activity?action=fees_forgotten').expect(200);
    expect(acts.activity).toMatchObject([{ by: { actor: 'bob' }, reason: `change ${first.change_id}` }]);
  });
});

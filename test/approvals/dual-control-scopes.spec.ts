import { ClientsService } from '../../src/access/clients/clients.service';
import { SCOPES } from '../../src/operations/catalogue/scopes';
import { changeIdOf, changeRequests } from '../support/access/change-requests';
import type { ChangeRecord } from '../support/http/api';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Ada and Bob are administrators. */
describe('dual control of scopes', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let ada: string;
  let bob: string;
  let clients: ClientsService;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: true });
    clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('admin', ['admin', 'audit']);
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    await clients.create('shop', ['pay', 'read']);
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const { create, change, issue, decide } = changeRequests(() => proxy.url);
  const changes = async (status = 'pending'): Promise<ChangeRecord[]> =>
    (await proxy.get(ada, `/v1/changes?status=${status}`).expect(200)).body.changes;

  it.each(SCOPES)('holds a new client with %s', async (scope) => {
    const pending = await create(ada, {
      name: 'guarded',
      scopes: [scope],
      person: 'eve',
      daily_cap_usd: 1,
    }).expect(202);
    await decide(bob, changeIdOf(pending), 'reject').expect(200);
  });

  it.each(SCOPES)('holds the grant of the scope %s', async (scope) => {
    const { name } = await clients.create(`lacks-${scope.replace(':', '-')}`, [
      scope === 'read' ? 'audit' : 'read',
    ]);
    const scopes = [scope, ...(scope === 'read' ? ['audit'] : ['read'])];
    const pending = await change(ada, name, { scopes, daily_cap_usd: 1 }).expect(202);
    await decide(bob, changeIdOf(pending), 'reject').expect(200);
  });

  it('supersedes the grant of a scope after a new key was issued', async () => {
    await clients.create('reader', ['read']);
    const pending = await change(ada, 'reader', { scopes: ['read', 'admin'] }).expect(202);
    // An unclaimed key also gets the scope.
    await decide(bob, changeIdOf(await issue(ada, 'reader', { person: 'mallory' }).expect(202))).expect(200);
    expect((await decide(bob, changeIdOf(pending)).expect(409)).body).toMatchObject({
      code: 'change_superseded',
    });
    expect(await changes('superseded')).toMatchObject([
      { id: changeIdOf(pending), decided_by: { person: 'bob' } },
    ]);
    // The second person sees all holders of keys.
    const again = await change(ada, 'reader', { scopes: ['read', 'admin'] }).expect(202);
    expect((await changes())[0]).toMatchObject({
      id: changeIdOf(again),
      holders: [{ person: null }, { person: 'mallory' }],
    });
    await decide(bob, changeIdOf(again), 'reject').expect(200);
  });

  it.each<[string, string[]]>([
    ['pay', ['pay', 'approve']],
    ['admin', ['admin', 'approve']],
  ])('refuses the scopes %s and approve for one person', async (_, scopes) => {
    const { body } = await create(ada, { name: 'both', scopes, daily_cap_usd: 1 }).expect(409);
    expect(body).toMatchObject({ code: 'incompatible_scopes' });
    await change(ada, 'shop', { scopes: ['pay', 'approve'] }).expect(409);
  });

  it('refuses conflicting scopes of one person across clients, in any spelling', async () => {
    await clients.create('desk', ['approve'], { person: 'erin' });
    expect((await issue(ada, 'shop', { person: 'Erin' }).expect(409)).body).toMatchObject({
      code: 'incompatible_scopes',
    });
    await create(ada, { name: 'till', scopes: ['pay'], daily_cap_usd: 1, person: 'ERIN' }).expect(409);
    // Requests that are compatible one by one are checked again at their decisions.
    const paying = await issue(ada, 'shop', { person: 'frank' }).expect(202);
    const approving = await issue(ada, 'desk', { person: 'frank' }).expect(202);
    await decide(bob, changeIdOf(paying)).expect(200);
    expect((await decide(bob, changeIdOf(approving)).expect(409)).body).toMatchObject({
      code: 'incompatible_scopes',
    });
    await clients.create('plain', ['read'], { person: 'gina' });
    const gina = await issue(ada, 'desk', { person: 'gina' }).expect(202);
    const grant = await change(ada, 'plain', { scopes: ['pay'], daily_cap_usd: 1 }).expect(202);
    await decide(bob, changeIdOf(gina)).expect(200);
    expect((await decide(bob, changeIdOf(grant)).expect(409)).body).toMatchObject({
      code: 'incompatible_scopes',
    });
  });
});

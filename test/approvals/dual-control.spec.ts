import { ClientsService } from '../../src/access/clients/clients.service';
import { changeIdOf, changeRequests } from '../support/access/change-requests';
import type { ChangeRecord } from '../support/http/api';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Ada and Bob are administrators. Each test tries to change alone as Ada what two persons must agree to. */
describe('dual control', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let ada: string;
  let bob: string;
  let nobody: string;
  let clients: ClientsService;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: true });
    clients = proxy.app.get(ClientsService, { strict: false });
    nobody = (await clients.create('admin', ['admin', 'audit'])).key;
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    await clients.create('shop', ['pay', 'read']);
    await clients.update('shop', { maxItems: 10, countries: ['Kenya'] });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const { create, change, issue, decide } = changeRequests(() => proxy.url);
  const shop = async () => (await proxy.get(ada, '/v1/clients/shop').expect(200)).body;
  const changes = async (status = 'pending'): Promise<ChangeRecord[]> =>
    (await proxy.get(ada, `/v1/changes?status=${status}`).expect(200)).body.changes;
  const keyOf = ({ body }: { body: object }) => (body as { key: string }).key;
  const opens = async (key: string) => (await proxy.get(key, '/v1/operations')).status === 200;

  it('applies restrictions at once, and holds expansions for another person', async () => {
    await change(ada, 'shop', { max_items: 5 }).expect(200);
    const asked = await change(ada, 'shop', {
      max_items: 6,
      requests_per_minute: 10,
      reason: 'Case 1',
    }).expect(202);
    expect(asked.body).toEqual({
      status: 'pending_approval',
      change_id: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(await shop()).toMatchObject({ max_items: 5, requests_per_minute: null });
    const [waiting] = await changes();
    expect(waiting).toMatchObject({
      id: changeIdOf(asked),
      kind: 'change_client',
      client: 'shop',
      status: 'pending',
      expands: ['max_items'],
      before: { max_items: 5, requests_per_minute: null },
      after: { max_items: 6, requests_per_minute: 10 },
      holders: [{ person: null }],
      reason: 'Case 1',
      requested_by: { client: 'admin', person: 'ada' },
      decided_by: null,
    });
    const { body } = await decide(bob, changeIdOf(asked)).expect(200);
    expect(body).toMatchObject({
      status: 'approved',
      decided_by: { person: 'bob' },
      decision_reason: 'agreed',
    });
    expect(await shop()).toMatchObject({ max_items: 6, requests_per_minute: 10 });
    const { body: acts } = await proxy.get(ada, '/v1/activity?client=shop&page_size=3').expect(200);
    expect(acts.activity).toMatchObject([
      {
        action: 'limits_changed',
        by: { actor: 'bob' },
        reason: `change ${changeIdOf(asked)}`,
        after: { max_items: 6 },
      },
      {
        action: 'change_approved',
        by: { actor: 'bob' },
        reason: 'agreed',
        after: { change_id: changeIdOf(asked) },
      },
      { action: 'change_requested', by: { actor: 'ada' }, reason: 'Case 1', before: { max_items: 5 } },
    ]);
  });

  it.each<[string, object]>([
    ['a limit is raised', { max_items: 7 }],
    ['a limit is removed', { max_items: null }],
    ['a list is emptied', { countries: [] }],
    ['a list grows', { countries: ['Kenya', 'Nigeria'] }],
    ['an account is opened', { scopes: ['pay', 'read', 'account'] }],
    ['people are shown', { scopes: ['pay', 'read', 'audit:pii'] }],
  ])('holds a change if %s', async (_, body) => {
    const before = await shop();
    const asked = await change(ada, 'shop', body).expect(202);
    await decide(ada, changeIdOf(asked)).expect(403);
    expect(await shop()).toEqual(before);
    await decide(bob, changeIdOf(asked), 'reject').expect(200);
    expect(await shop()).toEqual(before);
    await decide(bob, changeIdOf(asked)).expect(409);
  });

  it('rejects the requester in another spelling, without a name, or with a header', async () => {
    const { key: capital } = await clients.issueKey('admin', { person: 'ADA' });
    const { key: another } = await clients.issueKey('admin', { person: 'ada' });
    const asked = await change(ada, 'shop', { max_items: 7 }).expect(202);
    for (const key of [ada, capital, another]) {
      expect((await decide(key, changeIdOf(asked)).expect(403)).body).toMatchObject({ code: 'own_approval' });
    }
    for (const key of [nobody, capital]) {
      const { body } = await decide(key, changeIdOf(asked)).set('X-Actor', 'bob').expect(403);
      expect(body).toMatchObject({ code: key === nobody ? 'personal_key_required' : 'own_approval' });
    }
    const { body } = await change(nobody, 'shop', { max_items: 8 }).set('X-Actor', 'ada').expect(403);
    expect(body).toMatchObject({ code: 'personal_key_required' });
    await decide(bob, changeIdOf(asked), 'reject').expect(200);
  });

  it('keeps a new shared key inactive until a second person approves', async () => {
    const asked = await issue(ada, 'shop').expect(202);
    const key = keyOf(asked);
    expect(await opens(key)).toBe(false);
    await decide(key, changeIdOf(asked)).expect(401);
    await decide(bob, changeIdOf(asked)).expect(200);
    expect(await opens(key)).toBe(true);
    const [dump] = await proxy.database.query<{ all: string }>(
      `SELECT (SELECT json_agg(p)::text FROM pending_change p)
         || (SELECT json_agg(a)::text FROM activity a) AS all`,
    );
    expect(dump?.all).not.toContain(key.slice(-32));
  });

  it('creates no client after a rejection', async () => {
    const asked = await create(ada, { name: 'hands', scopes: ['admin'], person: 'mallory' }).expect(202);
    await decide(bob, changeIdOf(asked), 'reject').expect(200);
    await proxy.get(ada, '/v1/clients/hands').expect(404);
    expect((await changes('rejected'))[0]).toMatchObject({
      kind: 'create_client',
      before: null,
      after: { person: 'mallory' },
    });
  });

  it('cannot be bypassed in small steps, or by a step back and forth', async () => {
    await clients.create('steps', ['write']);
    await change(ada, 'steps', { max_items: 3 }).expect(200);
    await change(ada, 'steps', { max_items: 4 }).expect(202);
    await change(ada, 'steps', { scopes: ['write', 'pay'], daily_cap_usd: 1 }).expect(202);
    // Each of two concurrent changes alone is a restriction. The second starts from the result of the first.
    await Promise.all([2, 1].map((items) => change(ada, 'steps', { max_items: items })));
    expect((await proxy.get(ada, '/v1/clients/steps').expect(200)).body).toMatchObject({ max_items: 1 });
    for (const { id } of await changes()) await decide(bob, id, 'reject').expect(200);
  });

  it('voids an approval after another change, its expiry, or the revocation of its requester', async () => {
    const stale = await change(ada, 'shop', { max_items: 7 }).expect(202);
    await change(bob, 'shop', { max_items: 1 }).expect(200);
    expect((await decide(bob, changeIdOf(stale)).expect(409)).body).toMatchObject({
      code: 'change_superseded',
    });
    expect(await shop()).toMatchObject({ max_items: 1 });

    const late = await change(ada, 'shop', { max_items: 7 }).expect(202);
    await proxy.database.query(`UPDATE pending_change SET expires_at = now() WHERE id = $1`, [
      changeIdOf(late),
    ]);
    expect((await decide(bob, changeIdOf(late)).expect(409)).body).toMatchObject({ code: 'change_decided' });
    expect((await changes('expired')).map(({ id }) => id)).toEqual([changeIdOf(late)]);

    const dora = await clients.issueKey('admin', { person: 'dora' });
    const left = await change(dora.key, 'shop', { max_items: 7 }).expect(202);
    await clients.revokeKey(dora.id);
    expect((await decide(bob, changeIdOf(left)).expect(409)).body).toMatchObject({
      code: 'change_superseded',
    });
    expect(await shop()).toMatchObject({ max_items: 1 });
  });

  it('applies a change once under concurrent decisions', async () => {
    const asked = await issue(ada, 'shop', {}).expect(202);
    const answers = await Promise.all(Array.from({ length: 6 }, () => decide(bob, changeIdOf(asked))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it('does not accept a console session as the second person', async () => {
    const asked = await change(ada, 'shop', { max_items: 7 }).expect(202);
    const { body, headers } = await supertest(proxy.url)
      .post('/v1/session')
      .set('X-API-Key', ada)
      .expect(200);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    await supertest(proxy.url)
      .post(`/v1/changes/${changeIdOf(asked)}/approve`)
      .set({ Cookie: cookie, 'X-CSRF-Token': body.csrf_token, 'X-Actor': 'bob' })
      .send({ reason: 'mine' })
      .expect(403);
    await decide(bob, changeIdOf(asked), 'reject').expect(200);
  });

  it('refuses unknown changes, and other scopes', async () => {
    expect((await decide(bob, '01a1fc4c-d86a-751d-baa6-e9463876b80c').expect(404)).body).toMatchObject({
      code: 'change_not_found',
    });
    await decide(bob, 'shop').expect(404);
    const { key } = await proxy.client('others', 'pay', 'write', 'read', 'reconcile');
    await proxy.get(key, '/v1/changes').expect(403);
    const asked = await change(ada, 'shop', { max_items: 7 }).expect(202);
    await decide(key, changeIdOf(asked)).expect(403);
  });
});

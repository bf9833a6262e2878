import { ClientsService } from '../../../src/access/clients/clients.service';
import { signInAs, startSignInScene } from '../../support/access/signing-in';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/**
 * Ada and Bob are administrators. One of them tries to act as two persons, with a key that the other approved
 * in good faith.
 */
describe('a personal key with dual control', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let clients: ClientsService;
  let ada: string;
  let bob: string;
  let dora: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: true });
    clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('admin', ['admin', 'audit']);
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    dora = (await clients.issueKey('admin', { person: 'dora' })).key;
    await clients.create('shop', ['read']);
    await clients.update('shop', { maxItems: 5 });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const web = () => supertest(proxy.url);
  const request = async (key: string, person: string) =>
    (await web().post('/v1/clients/admin/keys').set('X-API-Key', key).send({ person }).expect(202)).body as {
      change_id: string;
    };
  const decide = (key: string, id: string, decision: 'approve' | 'reject' = 'approve') =>
    web()
      .post(`/v1/changes/${id}/${decision}` as '/v1/changes/{id}/approve')
      .set('X-API-Key', key)
      .send({ reason: 'agreed' });
  /** @returns the claim code. */
  const agree = async (person: string) => {
    const { change_id: id } = await request(ada, person);
    return { id, code: (await decide(bob, id).expect(200)).body.claim_code ?? '' };
  };
  const claim = (body: object, key?: string) => {
    const sent = web().post('/v1/key-claims');
    return (key === undefined ? sent : sent.set('X-API-Key', key)).send(body);
  };
  const keysOf = async (person: string) =>
    (await proxy.get(ada, '/v1/clients/admin/keys').expect(200)).body.keys.filter(
      (key) => key.person === person,
    );
  const expand = async (key: string) => {
    const sent = web().patch('/v1/clients/shop').set('X-API-Key', key).send({ max_items: 6 });
    return ((await sent.expect(202)).body as { change_id: string }).change_id;
  };

  it('shows its secret only to the person who claims it', async () => {
    const change = await request(ada, 'carol');
    expect(change).not.toHaveProperty('key');
    expect((await proxy.get(ada, '/v1/changes').expect(200)).text).not.toContain('ppc_');
    const { body: approved } = await decide(bob, change.change_id).expect(200);
    expect(await keysOf('carol')).toMatchObject([
      { state: 'unclaimed', change_id: change.change_id, claimed_by: [] },
    ]);
    const code = approved.claim_code ?? '';
    expect(code).toMatch(/^ppc_admin_/);
    await proxy.get(code, '/v1/clients').expect(401);

    const { body } = await claim({ code }).expect(201);
    expect(body).toMatchObject({ client: 'admin', person: 'carol', requested_by: 'ada', approved_by: 'bob' });
    await proxy.get(body.key, '/v1/clients').expect(200);
    expect(await keysOf('carol')).toMatchObject([{ state: 'active', id: body.id, claimed_by: ['bob'] }]);
    const { body: acts } = await proxy.get(ada, '/v1/activity?client=admin&page_size=4').expect(200);
    expect(acts.activity).toMatchObject([
      { action: 'key_claimed', after: { requested_by: 'ada', approved_by: 'bob', claimed_by: ['bob'] } },
      { action: 'key_issued', by: { actor: 'bob' } },
      { action: 'change_approved', by: { actor: 'bob' } },
      { action: 'change_requested', by: { actor: 'ada' } },
    ]);
    const [dump] = await proxy.database.query<{ all: string }>(
      `SELECT (SELECT json_agg(k)::text FROM api_key k) || (SELECT json_agg(p)::text FROM pending_change p)
         || (SELECT json_agg(a)::text FROM activity a) AS all`,
    );
    for (const secret of [code, body.key]) expect(dump?.all).not.toContain(secret.slice(-32));
  });

  it('is claimed once, even concurrently', async () => {
    const { code } = await agree('erin');
    const answers = await Promise.all(Array.from({ length: 5 }, () => claim({ code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404]);
  });

  it.each(['requester', 'approver'] as const)(
    'never decides about a change of its %s, a possible holder',
    async (holder) => {
      const { code } = await agree(`frank-${holder}`);
      const { key } = (await claim({ code }).expect(201)).body;
      const own = await expand(holder === 'requester' ? ada : bob);
      expect((await decide(key, own).expect(403)).body.code).toBe('own_approval');
      await decide(dora, own, 'reject').expect(200);
      const others = await expand(dora);
      await decide(key, others, 'reject').expect(200);
    },
  );

  it('cannot request a change that its holder approves', async () => {
    const { code } = await agree('gus');
    const { key } = (await claim({ code }).expect(201)).body;
    const change = await expand(key);
    expect((await decide(bob, change).expect(403)).body.code).toBe('own_approval');
    await decide(dora, change, 'reject').expect(200);
  });

  it('records a claimant other than its person, and does not decide for that claimant', async () => {
    const { code } = await agree('hugo');
    const { body } = await claim({ code }, dora).expect(201);
    expect(body.claimed_by).toEqual(['bob', 'dora']);
    const change = await expand(dora);
    await decide(body.key, change).expect(403);
    await decide(bob, change, 'reject').expect(200);
  });

  it('cannot be claimed after expiry or revocation, or with a wrong code', async () => {
    const { code, id } = await agree('ida');
    await proxy.database.query('UPDATE api_key SET claim_until = now() WHERE change_id = $1', [id]);
    await claim({ code }).expect(404);
    expect(await keysOf('ida')).toMatchObject([{ state: 'expired' }]);
    const revoked = await agree('jack');
    const [key] = await keysOf('jack');
    await clients.revokeKey(key?.id ?? '');
    await claim({ code: revoked.code }).expect(404);
    for (const wrong of ['ppc_admin_1', `${code.slice(0, -1)}~`, ada])
      await claim({ code: wrong }).expect(404);
    await claim({}).expect(400);
    await claim({ key_id: key?.id ?? '' }, ada).expect(404);
  });

  it('is claimed by the person with the first key of a new client', async () => {
    const sent = web()
      .post('/v1/clients')
      .set('X-API-Key', ada)
      .send({ name: 'desk', scopes: ['approve'], person: 'kim' });
    const { change_id: id } = (await sent.expect(202)).body as { change_id: string };
    const { claim_code: code = '' } = (await decide(bob, id).expect(200)).body;
    const { key } = (await claim({ code }).expect(201)).body;
    await proxy.get(key, '/v1/approvals').expect(200);
  });
});

describe('a personal key of a person who signs in', () => {
  it('is claimed in a session of that person only', async () => {
    const scene = await startSignInScene({ dualControl: true });
    const { proxy, provider } = scene;
    const clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('admin', ['admin', 'audit']);
    const keyOf = async (person: string) => (await clients.issueKey('admin', { person })).key;
    const [ada, bob] = [await keyOf('ada'), await keyOf('bob')];
    const { issuer } = provider;
    await clients.allowSignIn('admin', { issuer, subject: 'alice', person: 'carol' });
    await clients.allowSignIn('admin', { issuer, subject: 'bob', person: 'mallory' });
    const web = () => supertest(proxy.url);
    const request = web().post('/v1/clients/admin/keys').set('X-API-Key', ada).send({ person: 'carol' });
    const { change_id: id } = (await request.expect(202)).body as { change_id: string };
    const approve = (key: string, change: string) =>
      web()
        .post(`/v1/changes/${change}/approve` as '/v1/changes/{id}/approve')
        .set('X-API-Key', key)
        .send({ reason: 'agreed' });
    await approve(bob, id).expect(200);
    const { keys } = (await proxy.get(ada, '/v1/clients/admin/keys').expect(200)).body;
    const keyId = keys.find(({ state }) => state === 'unclaimed')?.id;
    const claim = async (subject: string) => {
      const { cookies, csrfToken } = await signInAs(proxy.url, subject);
      const headers = { Cookie: cookies.header, 'X-CSRF-Token': csrfToken };
      return web().post('/v1/key-claims').set(headers).send({ key_id: keyId });
    };
    expect((await claim('bob')).status).toBe(404);
    const claimed = await claim('alice');
    expect([claimed.status, claimed.body]).toMatchObject([201, { person: 'carol', claimed_by: ['carol'] }]);

    // The secret of the key is known to its person only. It may decide its approver's requests, and not its
    // requester's.
    const { key } = claimed.body as { key: string };
    const create = async (by: string, name: string) => {
      const sent = web()
        .post('/v1/clients')
        .set('X-API-Key', by)
        .send({ name, scopes: ['read'] });
      return ((await sent.expect(202)).body as { change_id: string }).change_id;
    };
    await approve(key, await create(bob, 'of-bob')).expect(200);
    await approve(key, await create(ada, 'of-ada')).expect(403);
    await scene.close();
  });
});

describe('a personal key without dual control', () => {
  it('is shown at once to its issuer', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: false });
    const { key } = await proxy.client('admin', 'admin');
    const issue = supertest(proxy.url)
      .post('/v1/clients/admin/keys')
      .set('X-API-Key', key)
      .send({ person: 'ada' });
    const { body } = await issue.expect(201);
    await proxy.get((body as { key: string }).key, '/v1/clients').expect(200);
    await proxy.close();
    await upstream.stop();
  });
});

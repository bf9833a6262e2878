import { Client } from 'pg';
import { ringOf, newSigningKey, signerOf } from '../../../src/history/log/note';
import { verifyLog } from '../../../src/history/log/verify/verify';
import { ActivityJournal } from '../../../src/journal/activity/activity';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { first } from '../../support/examples/first';
import type { ActivityRecord } from '../../support/http/api';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the list of administrative acts', () => {
  const signingKey = newSigningKey('test');
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let admin: { id: string; key: string };
  let auditor: { id: string; key: string };

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = answer(200, {
      status: 'success',
      data: { error: 'None', data: [{ chiRef: 'chi-1' }] },
    });
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, logSigningKey: new Secret(signingKey) });
    await proxy.startWorker();
    admin = await proxy.client('admin', 'admin');
    auditor = await proxy.client('auditor', 'audit');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const ask = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) => {
    const request = supertest(proxy.url)[method](path).set('X-API-Key', admin.key);
    return body === undefined ? request : request.send(body);
  };
  const acts = async (query = '', key = auditor.key): Promise<ActivityRecord[]> =>
    (await proxy.get(key, `/v1/activity?${query}`).expect(200)).body.activity;
  const verify = async (...changes: string[]) => {
    const client = new Client({ connectionString: proxy.database.ownerUrl });
    await client.connect();
    try {
      await client.query('BEGIN; SET LOCAL session_replication_role = replica');
      for (const change of changes) await client.query(change);
      return await verifyLog([client], { ring: ringOf([signerOf(signingKey)]), notes: [] });
    } finally {
      await client.end();
    }
  };

  it('shows a removed and restored cap with both states, and the log proves the records', async () => {
    const shop = (
      await ask('post', '/v1/clients', { name: 'shop', scopes: ['pay'], daily_cap_usd: 10 }).expect(201)
    ).body as { id: string; key: string };
    const lift = { daily_cap_usd: '1000000', reason: 'Case 17 of +2348012345678' };
    const lifted = await ask('patch', '/v1/clients/shop', lift).set('X-Actor', 'grace').expect(200);
    await proxy
      .post(shop.key, '/payouts/credit', { credits: [{ email: 'a@b.example', valueInUSD: 500 }] })
      .expect(200);
    await ask('patch', '/v1/clients/shop', { daily_cap_usd: 10 }).expect(200);

    const [back, up, issued, created, ...others] = await acts('client=shop');
    const by = { client: { id: admin.id, name: 'admin' }, key_id: expect.any(String) };
    const target = { client: { id: shop.id, name: 'shop' }, key_id: null, operation: null };
    expect(up).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      action: 'limits_changed',
      target,
      before: { daily_cap_usd: '10' },
      after: { daily_cap_usd: '1000000' },
      by: { ...by, actor: null }, // X-Actor is no evidence.
      via: 'api',
      client_address: '127.0.0.1',
      request_id: lifted.headers['x-request-id'],
      call_id: lifted.headers['x-call-id'],
      reason: 'Case 17 of +234••••5678',
    });
    expect(back).toMatchObject({
      action: 'limits_changed',
      before: { daily_cap_usd: '1000000' },
      after: { daily_cap_usd: '10' },
      by: { ...by, actor: null },
      reason: null,
    });
    expect(issued).toMatchObject({ action: 'key_issued', before: null, after: { person: null } });
    expect(created).toMatchObject({
      action: 'client_created',
      before: null,
      after: { scopes: ['pay'], countries: [] },
    });
    expect(created?.after).toMatchObject({ daily_cap_usd: '10', monthly_cap_usd: null, operations: null });
    expect(others).toEqual([]);

    await eventually(async () => (await verify()).unsealed.count === 0);
    expect((await verify()).ok).toBe(true);
    const changes = [`after = replace(after, '1000000', '11')`, `actor = 'ada'`, `target_client = 'other'`];
    for (const change of changes) {
      const { fault } = await verify(`UPDATE activity SET ${change} WHERE id = '${up?.id}'`);
      expect(fault).toMatchObject({ code: 'record_changed', kind: 'activity', record_id: up?.id });
    }
    const { fault } = await verify(`DELETE FROM activity WHERE id = '${up?.id}'`);
    expect(fault).toMatchObject({ kind: 'activity', record_id: up?.id });
    await expect(proxy.database.query(`UPDATE activity SET actor = NULL`)).rejects.toThrow();
  });

  it('shows issued and revoked keys by ID only', async () => {
    await ask('post', '/v1/clients', {
      name: 'rotating',
      scopes: ['pay'],
      daily_cap_usd: null,
      person: 'ada',
    }).expect(201);
    const expires = '2999-01-01T00:00:00.000Z';
    const asked = { expires_at: expires, reason: 'due' };
    const { id, key } = (await ask('post', '/v1/clients/rotating/keys', asked).expect(201)).body;
    await ask('delete', `/v1/clients/rotating/keys/${id}?reason=leaked`).expect(200);
    await ask('delete', `/v1/clients/rotating/keys/${id}?reason=again`).expect(200); // No change.
    const [revoked, issued, made] = await acts('client=rotating');
    expect(revoked).toMatchObject({ action: 'key_revoked', target: { key_id: id }, reason: 'leaked' });
    expect(revoked).toMatchObject({
      before: { revoked_at: null },
      after: { revoked_at: expect.stringMatching(/Z$/) },
    });
    const hint = `pp_rotating_…${key.slice(-4)}`;
    expect(issued).toMatchObject({ action: 'key_issued', target: { key_id: id }, reason: 'due' });
    expect(issued?.after).toEqual({ hint, person: null, expires_at: expires });
    expect(made).toMatchObject({ action: 'key_issued', after: { person: 'ada' } });
    const [dump] = await proxy.database.query('SELECT json_agg(a)::text AS text FROM activity a');
    expect(dump?.text).not.toContain(key.slice(-32));
  });

  it('shows each kind of change of a request, and no other', async () => {
    await ask('post', '/v1/clients', {
      name: 'changing',
      scopes: ['pay'],
      daily_cap_usd: null,
      max_items: 3,
    }).expect(201);
    const same = { scopes: ['pay'], max_items: 3, operations: null };
    await ask('patch', '/v1/clients/changing', { ...same, reason: 'nothing' }).expect(200);
    const change = { scopes: ['read'], operations: ['POST /send'], max_items: null, countries: ['Kenya'] };
    await ask('patch', '/v1/clients/changing', change).expect(200);
    const states = (await acts('client=changing')).map((act) => [act.action, act.before, act.after]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['scopes_changed', { scopes: ['pay'] }, { scopes: ['read'] }],
        ['operations_changed', { operations: null }, { operations: ['POST /send'] }],
        ['limits_changed', { max_items: 3, countries: [] }, { max_items: null, countries: ['Kenya'] }],
      ]),
    );
    expect(states).toHaveLength(5);
  });

  it('shows the console as the channel of a change', async () => {
    await ask('post', '/v1/clients', { name: 'clicked', scopes: ['pay'], daily_cap_usd: null }).expect(201);
    const { body, headers } = await ask('post', '/v1/session').expect(200);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    await supertest(proxy.url)
      .patch('/v1/clients/clicked')
      .set({ Cookie: cookie, 'X-CSRF-Token': body.csrf_token })
      .send({ max_items: 1 })
      .expect(200);
    expect((await acts('client=clicked'))[0]).toMatchObject({
      via: 'console',
      by: { client: { name: 'admin' } },
    });
    const clicking = { Cookie: cookie, 'X-CSRF-Token': body.csrf_token };
    const { body: stop } = await supertest(proxy.url)
      .post('/v1/stops')
      .set(clicking)
      .send({ client: 'clicked', reason: 'Clicked' })
      .expect(201);
    await supertest(proxy.url).delete(`/v1/stops/${stop.id}`).set(clicking).expect(200);
    const [lifted, set] = await acts('client=clicked&via=console');
    expect([lifted?.action, set?.action]).toEqual(['stop_lifted', 'stop_set']);
  });

  it('prevents a change that cannot be recorded', async () => {
    await ask('post', '/v1/clients', { name: 'unchanged', scopes: ['pay'], daily_cap_usd: 10 }).expect(201);
    const { id } = first((await ask('get', '/v1/clients/unchanged/keys').expect(200)).body.keys);
    jest.spyOn(ActivityJournal.prototype, 'record').mockRejectedValue(new Error('the disk is full'));
    await ask('patch', '/v1/clients/unchanged', { daily_cap_usd: 99 }).expect(500);
    await ask('post', '/v1/clients', { name: 'unmade', scopes: ['read'] }).expect(500);
    await ask('post', '/v1/clients/unchanged/keys').expect(500);
    await ask('delete', `/v1/clients/unchanged/keys/${id}`).expect(500);
    jest.restoreAllMocks();
    const { body } = await ask('get', '/v1/clients/unchanged').expect(200);
    expect(body).toMatchObject({ daily_cap_usd: '10', active_keys: 1 });
    await ask('get', '/v1/clients/unmade').expect(404);
  });

  it('shows stops and lifts, with each filter', async () => {
    const { id } = (await ask('post', '/v1/stops', { client: 'auditor', reason: 'Leaked' }).expect(201)).body;
    await ask('delete', `/v1/stops/${id}`).expect(200);
    const [lifted, stopped] = await acts('client=auditor');
    expect([lifted?.via, stopped?.via]).toEqual(['api', 'api']);
    expect(lifted).toMatchObject({ id, action: 'stop_lifted', before: null, after: null, reason: null });
    expect(stopped).toMatchObject({
      id,
      action: 'stop_set',
      reason: 'Leaked',
      by: { client: { name: 'admin' } },
    });
    expect(await acts('action=stop_set&client=auditor')).toEqual([stopped]);
    expect(await acts(`by=admin&action=stop_lifted&client=${auditor.id}`)).toEqual([lifted]);
    expect(await acts('actor=grace')).toEqual([]);
    expect(await acts('client=nobody')).toEqual([]);
    expect(await acts(`to=${stopped?.at}&client=auditor`)).toHaveLength(2);
    expect((await acts('via=start')).length).toBeGreaterThan(0);
    expect(await acts(`from=${new Date(Date.now() + 3_600_000).toISOString()}`)).toEqual([]);
  });

  it('returns every act once, for any page size', async () => {
    const all = await acts('page_size=200');
    const paged: ActivityRecord[] = [];
    let token: string | null = '';
    while (token !== null) {
      const query: string = `page_size=2${token && `&page_token=${token}`}`;
      const { body } = await proxy.get(auditor.key, `/v1/activity?${query}`).expect(200);
      paged.push(...body.activity);
      token = body.next_page_token;
    }
    expect(paged).toEqual(all);
    expect([...all].sort((a, b) => (a.at < b.at ? 1 : -1)).map(({ at }) => at)).toEqual(
      all.map(({ at }) => at),
    );
  });

  it('requires the scope audit or admin, and records its own reads', async () => {
    expect(await acts('', admin.key)).toEqual(await acts());
    const other = await proxy.client('other', 'pay', 'read', 'reconcile', 'approve');
    await proxy.get(other.key, '/v1/activity').expect(403);
    const { headers } = await proxy.get(auditor.key, '/v1/activity?action=key_revoked').expect(200);
    const [access] = await proxy.database.query('SELECT * FROM access WHERE id = $1', [headers['x-call-id']]);
    expect(access).toMatchObject({
      route: 'GET /v1/activity',
      filters: { action: 'key_revoked' },
      revealed: false,
    });
    for (const wrong of ['page_token=x', 'action=deleted', 'from=today', 'via=magic'])
      await proxy.get(auditor.key, `/v1/activity?${wrong}`).expect(400);
  });
});

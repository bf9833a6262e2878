import { ClientsService } from '../../../src/access/clients/clients.service';
import { newKey, hashKey } from '../../../src/access/clients/key';
import { newId } from '../../../src/platform/database/ids';
import { ClientsApi, faultsOf, startClientsApi } from '../../support/access/clients-api';
import supertest from '../../support/http/supertest';
import { startProxy } from '../../support/processes/proxy';

describe('the kind of a client', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  const createPublic = (name: string, more: object = {}) =>
    api.ask('post', '', { name, kind: 'public', scopes: ['pay', 'read'], daily_cap_usd: 10, ...more });
  const sql = (text: string, values: unknown[] = []) => api.proxy.database.query(text, values);
  const actsOf = async (name: string) =>
    (await sql('SELECT action, after FROM activity WHERE target_client = $1 ORDER BY id', [name])) as {
      action: string;
      after: string;
    }[];

  it('creates a public client without a key', async () => {
    const { body } = await createPublic('phone').expect(201);
    expect(body).toMatchObject({ name: 'phone', kind: 'public', active_keys: 0 });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['key']));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['expires_at']));
    expect((await api.ask('get', '/phone/keys').expect(200)).body.keys).toEqual([]);
    const [act, ...others] = await actsOf('phone');
    expect([act?.action, JSON.parse(act?.after ?? '')]).toMatchObject(['client_created', { kind: 'public' }]);
    expect(others).toEqual([]);
  });

  it('defaults to a server client with a key', async () => {
    expect(await api.create('backend', { kind: 'server' })).toMatchObject({
      kind: 'server',
      active_keys: 1,
      key: expect.stringMatching(/^pp_backend_/),
    });
  });

  it('rejects key fields for a public client, and unknown kinds', async () => {
    const detail = 'must be left out for a public client, which has no secret keys';
    expect(await faultsOf(createPublic('never', { person: 'ada', expires_at: null }))).toEqual([
      { pointer: '/person', detail },
      { pointer: '/expires_at', detail },
    ]);
    expect(await faultsOf(createPublic('never', { kind: 'native' }))).toEqual([
      { pointer: '/kind', detail: 'must be one of server, public' },
    ]);
  });

  it('refuses to issue a secret key to a public client, and names the alternative', async () => {
    await createPublic('keyless').expect(201);
    const { body } = await api.ask('post', '/keyless/keys', {}).expect(409);
    expect([body.code, body.detail]).toEqual(['public_client', expect.stringMatching(/access tokens/)]);
    const clients = api.proxy.app.get(ClientsService, { strict: false });
    await expect(clients.issueKey('keyless')).rejects.toThrow(/the client keyless is public/);
    expect((await api.ask('get', '/keyless/keys').expect(200)).body.keys).toEqual([]);
    expect(await actsOf('keyless')).toHaveLength(1);
  });

  it('rejects a secret key of a public client in the database, by insert or update', async () => {
    const { id } = (await createPublic('sealed').expect(201)).body;
    const { id: otherId } = await api.create('open');
    const insert = (kind: string) =>
      sql('INSERT INTO api_key (id, client_id, sha256, hint, kind) VALUES ($1, $2, $3, $4, $5)', [
        newId(),
        id,
        hashKey(newKey('sealed')),
        'abcd',
        kind,
      ]);
    const refusal = 'a public client has no secret keys';
    await expect(insert('secret')).rejects.toThrow(refusal);
    await expect(
      sql('UPDATE api_key SET client_id = $1 WHERE client_id = $2', [id, otherId]),
    ).rejects.toThrow(refusal);
    await insert('provider');
    await insert('page');
    await expect(sql("UPDATE api_key SET kind = 'secret' WHERE client_id = $1", [id])).rejects.toThrow(
      refusal,
    );
  });

  it('cannot be changed', async () => {
    await createPublic('fixed').expect(201);
    expect(await faultsOf(api.ask('patch', '/fixed', { kind: 'server' }))).toMatchObject([
      { pointer: '/kind' },
    ]);
    for (const [from, to] of [
      ['public', 'server'],
      ['server', 'public'],
    ]) {
      const change = sql('UPDATE client SET kind = $1 WHERE kind = $2', [to, from]);
      await expect(change).rejects.toThrow('a client keeps its kind');
    }
  });

  it('creates an approved public client without a key', async () => {
    const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', dualControl: true });
    try {
      const clients = proxy.app.get(ClientsService, { strict: false });
      const ada = (await clients.create('admin', ['admin'], { person: 'ada' })).key;
      const bob = (await clients.issueKey('admin', { person: 'bob' })).key;
      const body = { name: 'phone', kind: 'public', scopes: ['pay'], daily_cap_usd: 10 };
      const requested = await supertest(proxy.url)
        .post('/v1/clients')
        .set('X-API-Key', ada)
        .send(body)
        .expect(202);
      expect(requested.body).toEqual({
        status: 'pending_approval',
        change_id: expect.any(String),
        expires_at: expect.any(String),
      });
      const { change_id: id } = requested.body;
      const path = `/v1/changes/${id}/approve` as '/v1/changes/{id}/approve';
      const decided = await supertest(proxy.url).post(path).set('X-API-Key', bob).send({ reason: 'agreed' });
      expect([decided.status, decided.body]).toMatchObject([
        200,
        { after: { kind: 'public', scopes: ['pay'] } },
      ]);
      const { body: phone } = await proxy.get(ada, '/v1/clients/phone').expect(200);
      expect(phone).toMatchObject({ kind: 'public', active_keys: 0, daily_cap_usd: '10' });
      await supertest(proxy.url).post('/v1/clients/phone/keys').set('X-API-Key', ada).send({}).expect(409);
    } finally {
      await proxy.close();
    }
  });
});

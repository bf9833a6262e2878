import { ClientsService } from '../../../src/access/clients/clients.service';
import { ClientsApi, faultsOf, NO_PROVIDERS, startClientsApi } from '../../support/access/clients-api';
import supertest from '../../support/http/supertest';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const PROVIDER = {
  token_issuer: 'https://id.example',
  token_audience: 'https://pay.example',
  token_jwks_uri: 'https://id.example/jwks',
  token_client_id: 'phone-app',
};
const USUAL = ['ES256', 'RS256', 'PS256', 'EdDSA'];

describe('the token provider of a client', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  const create = (name: string, more: object = {}) => api.createPublic(name, more);
  const withProvider = (name: string, more: object = {}) =>
    create(name, { ...PROVIDER, token_client_id: `${name}-app`, ...more }).expect(201);
  const change = (name: string, body: object) => api.change(name, body);
  const keysOf = (name: string) => api.keysOf(name);
  const statesOf = (name: string) => api.keyStatesOf(name);
  const actsOf = async (name: string) => {
    const acts = await api.proxy.database.query(
      `SELECT action, before, after, target_key_id FROM activity
       WHERE target_client = $1 ORDER BY acted_at, id`,
      [name],
    );
    return acts as { action: string; before: string | null; after: string; target_key_id: string | null }[];
  };

  it('is set at creation, and gets a key that represents its tokens', async () => {
    const { body } = await withProvider('phone', { token_dpop: true });
    expect(body).toMatchObject({
      ...PROVIDER,
      token_client_id: 'phone-app',
      token_algorithms: USUAL,
      token_dpop: true,
      active_keys: 0,
    });
    const [key, ...others] = await keysOf('phone');
    expect(key).toMatchObject({
      kind: 'provider',
      hint: 'provider',
      state: 'active',
      person: null,
      expires_at: null,
    });
    expect(others).toEqual([]);
    const acts = await actsOf('phone');
    expect(acts.map(({ action }) => action)).toEqual(['client_created', 'key_issued']);
    expect(JSON.parse(acts[0]?.after ?? '')).toMatchObject({ ...PROVIDER, token_dpop: true });
    expect(acts[1]?.target_key_id).toBe(key?.id);
  });

  it('is set, changed and removed later, and each change replaces its key', async () => {
    await api.create('late');
    const set = await change('late', { ...PROVIDER, token_client_id: 'late-app' });
    expect(set).toMatchObject({ token_algorithms: USUAL, token_dpop: false, active_keys: 1 });
    expect(await statesOf('late')).toEqual(['secret active', 'provider active']);
    const changed = await change('late', {
      token_jwks_uri: 'https://id.example/new',
      token_algorithms: ['ES256'],
    });
    expect(changed).toMatchObject({
      ...PROVIDER,
      token_client_id: 'late-app',
      token_jwks_uri: 'https://id.example/new',
      token_algorithms: ['ES256'],
    });
    expect(await statesOf('late')).toEqual(['secret active', 'provider revoked', 'provider active']);
    expect(await change('late', { token_issuer: null })).toMatchObject(NO_PROVIDERS);
    expect(await statesOf('late')).toEqual(['secret active', 'provider revoked', 'provider revoked']);
    const acts = (await actsOf('late')).slice(2);
    expect(acts.map(({ action }) => action).join(' ')).toBe(
      'provider_changed key_issued provider_changed key_revoked key_issued provider_changed key_revoked',
    );
    expect([acts[2]?.before, acts[2]?.after].map((text) => JSON.parse(text ?? '') as object)).toEqual([
      { token_jwks_uri: 'https://id.example/jwks', token_algorithms: USUAL },
      { token_jwks_uri: 'https://id.example/new', token_algorithms: ['ES256'] },
    ]);
  });

  it('keeps its key when other permissions change', async () => {
    await withProvider('steady');
    await change('steady', { max_items: 3, token_audience: PROVIDER.token_audience });
    expect(await statesOf('steady')).toEqual(['provider active']);
  });

  it('accepts no tokens after its key is revoked, until it is set again', async () => {
    await withProvider('stopped');
    const [key] = await keysOf('stopped');
    await api.ask('delete', `/stopped/keys/${key?.id}` as '/{name}/keys/{id}').expect(200);
    await change('stopped', { token_dpop: true });
    await change('stopped', { token_dpop: false });
    await change('stopped', { token_max_age: 31_536_000 });
    expect(await statesOf('stopped')).toEqual(['provider revoked']);
    await change('stopped', { token_issuer: null });
    await change('stopped', { ...PROVIDER, token_client_id: 'stopped-app' });
    expect(await statesOf('stopped')).toEqual(['provider revoked', 'provider active']);
  });

  it('accepts the fields that a client without a provider returns', async () => {
    await create('without').expect(201);
    expect(await change('without', NO_PROVIDERS)).toMatchObject(NO_PROVIDERS);
    expect(await keysOf('without')).toEqual([]);
  });

  it('is set completely or not at all', async () => {
    const detail =
      'is required for a client that accepts access tokens. To accept none, set token_issuer to null';
    const missing = async (body: object) => {
      const faults = await faultsOf(create('never', body));
      expect(faults.map((fault) => fault.detail)).toEqual(faults.map(() => detail));
      return faults.map(({ pointer }) => pointer);
    };
    expect(await missing({ token_issuer: 'https://id.example' })).toEqual([
      '/token_audience',
      '/token_jwks_uri',
      '/token_client_id',
    ]);
    expect(await missing({ ...PROVIDER, token_algorithms: [] })).toEqual(['/token_algorithms']);
    await withProvider('whole');
    const faults = await faultsOf(api.ask('patch', '/whole', { token_audience: null }));
    expect(faults).toEqual([{ pointer: '/token_audience', detail }]);
  });

  it.each([
    ['token_issuer', 'http://id.example'],
    ['token_issuer', 'https://ada:secret@id.example'],
    ['token_issuer', 'https://id.example/#part'],
    ['token_issuer', 'https://id.example/a b'],
    ['token_issuer', 'id.example'],
    ['token_issuer', 'javascript:alert(1)'],
    ['token_issuer', `https://id.example/${'a'.repeat(500)}`],
    ['token_jwks_uri', 'http://10.0.0.1/jwks'],
    ['token_jwks_uri', 'http://localhost.example/jwks'],
    ['token_jwks_uri', 'file:///etc/passwd'],
    ['token_jwks_uri', 'https://id.example/jwks#'],
    ['token_audience', ''],
    ['token_audience', 'two words'],
    ['token_client_id', 'ä'],
    ['token_algorithms', ['HS256']],
    ['token_algorithms', ['none']],
    ['token_algorithms', ['ES256', 'ES256']],
    ['token_algorithms', 'ES256'],
    ['token_dpop', null],
    ['token_dpop', 'yes'],
    ['token_max_age', null],
    ['token_max_age', 59],
    ['token_max_age', 31_536_001],
    ['token_max_age', 60.5],
    ['token_max_age', '60'],
  ])('rejects %s %j', async (name, value) => {
    expect(await faultsOf(create('never', { ...PROVIDER, [name]: value }))).toMatchObject([
      { pointer: `/${name}` },
    ]);
  });

  it('may use http on the local machine', async () => {
    const urls = { token_issuer: 'http://127.0.0.1:4011', token_jwks_uri: 'http://localhost:4011/jwks' };
    expect((await withProvider('local', urls)).body).toMatchObject(urls);
  });

  it('requires app IDs that no other client uses', async () => {
    await withProvider('first');
    const taken = { ...PROVIDER, token_client_id: 'first-app' };
    await create('second').expect(201);
    const bodies = [
      (await create('third', taken).expect(409)).body,
      (await api.ask('patch', '/second', taken).expect(409)).body,
    ];
    for (const { code, detail } of bodies) {
      expect([code, detail]).toEqual(['provider_taken', expect.stringMatching(/a separate app/)]);
    }
    const competing = ['fourth', 'fifth'].map((name) =>
      create(name, { ...PROVIDER, token_client_id: 'same' }),
    );
    expect((await Promise.all(competing)).map(({ status }) => status).sort()).toEqual([201, 409]);
    await create('sixth', { ...taken, token_issuer: 'https://other.example' }).expect(201);
  });

  describe('with dual control', () => {
    let proxy: TestProxy;
    let ada: string;
    let bob: string;

    beforeAll(async () => {
      proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', dualControl: true });
      const clients = proxy.app.get(ClientsService, { strict: false });
      ada = (await clients.create('admin', ['admin'], { person: 'ada' })).key;
      bob = (await clients.issueKey('admin', { person: 'bob' })).key;
      await clients.create('phone', ['pay'], { kind: 'public' });
    });
    afterAll(() => proxy.close());

    const ask = (body: object) =>
      supertest(proxy.url).patch('/v1/clients/phone').set('X-API-Key', ada).send(body);
    const agree = async () => {
      const { body } = await proxy.get(bob, '/v1/changes').expect(200);
      const [waiting] = body.changes;
      const path = `/v1/changes/${waiting?.id}/approve` as '/v1/changes/{id}/approve';
      await supertest(proxy.url).post(path).set('X-API-Key', bob).send({ reason: 'agreed' }).expect(200);
      return waiting?.expands;
    };
    const phone = async () => (await proxy.get(ada, '/v1/clients/phone').expect(200)).body;

    it('requires a second person to set or change, and one person to narrow or remove', async () => {
      await ask(PROVIDER).expect(202);
      expect(await phone()).toMatchObject(NO_PROVIDERS);
      expect(await agree()).toEqual([
        'token_issuer',
        'token_audience',
        'token_jwks_uri',
        'token_algorithms',
        'token_client_id',
        'token_dpop',
        'token_max_age',
      ]);
      expect(await phone()).toMatchObject({ ...PROVIDER, token_algorithms: USUAL, token_dpop: false });
      await ask({ token_dpop: true }).expect(200);
      await ask({ token_dpop: false }).expect(202);
      expect(await agree()).toEqual(['token_dpop']);
      await ask({ token_max_age: 3_600 }).expect(200);
      await ask({ token_max_age: 7_200 }).expect(202);
      expect(await agree()).toEqual(['token_max_age']);
      await ask({ token_jwks_uri: 'https://evil.example/jwks' }).expect(202);
      expect(await phone()).toMatchObject(PROVIDER);
      await ask({ token_issuer: null }).expect(200);
      expect(await phone()).toMatchObject(NO_PROVIDERS);
      const { body } = await proxy.get(ada, '/v1/clients/phone/keys').expect(200);
      expect(body.keys.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['provider revoked']);
    });
  });
});

import { ClientsService } from '../../../src/access/clients/clients.service';
import { PageSessionsService } from '../../../src/access/sessions/page-sessions.service';
import { ClientsApi, faultsOf, NO_PROVIDERS, startClientsApi } from '../../support/access/clients-api';
import type { KeyDto } from '../../support/http/api';
import supertest from '../../support/http/supertest';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const ISSUER = 'https://id.example';
const PROVIDER = { page_issuer: ISSUER, page_client_id: 'shop-pages' };
const PAGES = { ...PROVIDER, origins: ['https://shop.example'] };
const DETAIL = 'is required for a client with page sessions. To have none, set page_issuer to null';
/** The error of a missing field. */
const required = (field: string) => [{ pointer: `/${field}`, detail: DETAIL }];
const TOKENS = {
  token_issuer: ISSUER,
  token_audience: 'https://pay.example',
  token_jwks_uri: `${ISSUER}/jwks`,
  token_client_id: 'shop-app',
};

describe('the page provider of a client', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  const faultsOfNew = (body: object) => faultsOf(api.createPublic('never', body));
  const withPages = (name: string, more: object = {}) =>
    api.createPublic(name, { ...PAGES, page_client_id: `${name}-pages`, ...more }).expect(201);
  const revoke = async (name: string, kind: KeyDto['kind']) => {
    const key = (await api.keysOf(name)).find((listed) => listed.kind === kind && listed.state === 'active');
    await api.ask('delete', `/${name}/keys/${key?.id}` as '/{name}/keys/{id}').expect(200);
  };

  it('is set at creation, and gets a key that represents all page sessions', async () => {
    const { body } = await withPages('shop');
    expect(body).toMatchObject({ ...NO_PROVIDERS, ...PAGES, active_keys: 0 });
    expect(body).not.toHaveProperty('key');
    const keys = await api.keysOf('shop');
    expect(keys).toMatchObject([
      { kind: 'page', hint: 'page', state: 'active', person: null, expires_at: null },
    ]);
    const { key: auditor } = await api.proxy.client('auditor', 'audit');
    const { activity } = (await api.proxy.get(auditor, '/v1/activity?client=shop').expect(200)).body;
    expect(activity.map(({ action }) => action)).toEqual(['key_issued', 'client_created']);
    expect(activity[1]?.after).toMatchObject(PAGES);
  });

  it('is set, changed and removed later, and each change replaces its key', async () => {
    await api.create('late', { origins: PAGES.origins });
    expect(await api.change('late', { ...PAGES, page_client_id: 'late-pages' })).toMatchObject({
      page_issuer: ISSUER,
      page_client_id: 'late-pages',
      active_keys: 1,
    });
    expect(await api.keyStatesOf('late')).toEqual(['secret active', 'page active']);
    await api.change('late', { page_client_id: 'new-pages' });
    expect(await api.keyStatesOf('late')).toEqual(['secret active', 'page revoked', 'page active']);
    expect(await api.change('late', { page_issuer: null })).toMatchObject(NO_PROVIDERS);
    expect(await api.keyStatesOf('late')).toEqual(['secret active', 'page revoked', 'page revoked']);
    const acts = await api.proxy.database.query(
      `SELECT action, before, after FROM activity
       WHERE target_client = 'late' ORDER BY acted_at, id OFFSET 2`,
    );
    expect(acts.map(({ action }) => action).join(' ')).toBe(
      'provider_changed key_issued provider_changed key_revoked key_issued provider_changed key_revoked',
    );
    expect(acts[2]).toMatchObject({
      before: JSON.stringify({ page_client_id: 'late-pages' }),
      after: JSON.stringify({ page_client_id: 'new-pages' }),
    });
  });

  it('keeps its key when other permissions change', async () => {
    await withPages('steady');
    await api.change('steady', { max_items: 3, page_issuer: ISSUER });
    expect(await api.keyStatesOf('steady')).toEqual(['page active']);
  });

  // A change of one provider must not replace a revoked key of the other.
  it('shares no key changes with the token provider', async () => {
    await withPages('apart', { ...TOKENS, token_client_id: 'apart-app' });
    expect((await api.keyStatesOf('apart')).sort()).toEqual(['page active', 'provider active']);
    await revoke('apart', 'page');
    await api.change('apart', { token_audience: 'https://other.example' });
    await api.change('apart', { token_issuer: null });
    expect(await api.keyStatesOf('apart')).not.toContain('page active');
    await api.change('apart', { ...TOKENS, token_client_id: 'apart-app' });
    await revoke('apart', 'provider');
    await api.change('apart', { page_client_id: 'other-pages' });
    await api.change('apart', { page_issuer: null });
    await api.change('apart', { ...PAGES, page_client_id: 'apart-pages' });
    const states = await api.keyStatesOf('apart');
    expect(states.filter((state) => state.endsWith('active'))).toEqual(['page active']);
  });

  it('ends its sessions only when it changes, is removed, or loses its key', async () => {
    await withPages('till');
    const person = { name: 'sub-1', issuer: ISSUER, daily_cap_usd: 1 };
    const { body } = await api.ask('post', '/till/persons' as '/{name}/persons', person).expect(200);
    const sessions = api.proxy.app.get(PageSessionsService, { strict: false });
    const signIn = async () => {
      const key = (await api.keysOf('till')).find(({ state }) => state === 'active');
      const signedIn = { at: null, acr: null, sid: null, idToken: 'header.claims.signature' };
      const [origin = ''] = PAGES.origins;
      return sessions.begin({ keyId: key?.id ?? '', personId: body.id, origin }, signedIn);
    };
    const statusOf = async (token: string) =>
      (
        await supertest(api.proxy.url)
          .get('/v1/page-sessions/till' as '/v1/page-sessions/{client}')
          .set('Cookie', `payout_proxy_page_till=${token}`)
      ).status;
    const tokens: string[] = [];
    for (const end of [
      () => api.change('till', { page_client_id: 'others' }),
      () => api.change('till', { page_issuer: null }),
      () => revoke('till', 'page'),
    ]) {
      tokens.push(await signIn());
      await api.change('till', {
        max_items: tokens.length,
        ...TOKENS,
        token_client_id: `till-app-${tokens.length}`,
      });
      await api.change('till', { token_issuer: null });
      expect(await statusOf(tokens.at(-1) ?? '')).toBe(200);
      await end();
      expect(await statusOf(tokens.at(-1) ?? '')).toBe(401);
      await api.change('till', { page_issuer: null });
      await api.change('till', { ...PAGES, page_client_id: 'till-pages' });
    }
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401, 401]);
  });

  it('is set completely or not at all', async () => {
    expect(await faultsOfNew({ ...PAGES, page_client_id: null })).toEqual(required('page_client_id'));
    expect(await faultsOfNew({ ...PAGES, page_issuer: undefined })).toEqual(required('page_issuer'));
    const both = await faultsOfNew({ page_issuer: ISSUER, token_issuer: ISSUER });
    expect(both.map(({ pointer }) => pointer)).toEqual([
      '/token_audience',
      '/token_jwks_uri',
      '/token_client_id',
      '/page_client_id',
      '/origins',
    ]);
    await withPages('whole');
    const faults = await faultsOf(api.ask('patch', '/whole', { page_client_id: null }));
    expect(faults).toEqual(required('page_client_id'));
  });

  it('requires a page origin, because sign-ins return there', async () => {
    expect(await faultsOfNew(PROVIDER)).toEqual(required('origins'));
    expect(await faultsOfNew({ ...PROVIDER, origins: [] })).toEqual(required('origins'));
    await api.createPublic('placeless').expect(201);
    const provider = { ...PROVIDER, page_client_id: 'placeless-pages' };
    const patch = (body: object) => api.ask('patch', '/placeless' as '/{name}', body);
    expect(await faultsOf(patch(provider))).toEqual(required('origins'));
    await patch({ origins: PAGES.origins }).expect(200);
    await patch(provider).expect(200);
    expect(await faultsOf(patch({ origins: [] }))).toEqual(required('origins'));
    await patch({ origins: [], page_issuer: null }).expect(200);
  });

  it.each([
    ['page_issuer', 'http://id.example'],
    ['page_issuer', 'https://ada:secret@id.example'],
    ['page_issuer', 'https://id.example/#part'],
    ['page_issuer', 'id.example'],
    ['page_issuer', `https://id.example/${'a'.repeat(500)}`],
    ['page_issuer', 1],
    ['page_client_id', ''],
    ['page_client_id', 'two words'],
    ['page_client_id', ['a']],
  ])('rejects %s %j', async (name, value) => {
    expect(await faultsOfNew({ ...PAGES, [name]: value })).toMatchObject([{ pointer: `/${name}` }]);
  });

  it('requires a provider client ID that no other client uses', async () => {
    await withPages('first');
    const taken = { ...PAGES, page_client_id: 'first-pages' };
    await api.createPublic('second').expect(201);
    expect((await api.createPublic('third', taken).expect(409)).body.code).toBe('provider_taken');
    expect((await api.ask('patch', '/second', taken).expect(409)).body.code).toBe('provider_taken');
    await api.createPublic('fourth', { ...taken, page_issuer: 'https://other.example' }).expect(201);
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
      await clients.create('shop', ['pay']);
    });
    afterAll(() => proxy.close());

    const ask = (body: object) =>
      supertest(proxy.url).patch('/v1/clients/shop').set('X-API-Key', ada).send(body);
    const agree = async () => {
      const [waiting] = (await proxy.get(bob, '/v1/changes').expect(200)).body.changes;
      const path = `/v1/changes/${waiting?.id}/approve` as '/v1/changes/{id}/approve';
      await supertest(proxy.url).post(path).set('X-API-Key', bob).send({ reason: 'agreed' }).expect(200);
      return waiting?.expands;
    };
    const shop = async () => (await proxy.get(ada, '/v1/clients/shop').expect(200)).body;
    const activeKeys = async () => {
      const { keys } = (await proxy.get(ada, '/v1/clients/shop/keys').expect(200)).body;
      return keys.filter(({ state }) => state === 'active').map(({ kind }) => kind);
    };

    it('requires a second person to set or change, and one person to remove', async () => {
      expect(await faultsOf(ask(PROVIDER))).toMatchObject([{ pointer: '/origins' }]);
      await ask(PAGES).expect(202);
      expect(await shop()).toMatchObject(NO_PROVIDERS);
      expect(await agree()).toEqual(['origins', 'page_issuer', 'page_client_id']);
      expect(await faultsOf(ask({ origins: [] }))).toMatchObject([{ pointer: '/origins' }]);
      expect(await shop()).toMatchObject(PAGES);
      await ask({ page_client_id: 'others' }).expect(202);
      expect(await agree()).toEqual(['page_client_id']);
      await ask({ page_issuer: null }).expect(200);
      expect(await shop()).toMatchObject(NO_PROVIDERS);
      expect(await activeKeys()).toEqual(['secret']);
    });

    it('lets no single person replace a revoked key', async () => {
      await ask({ ...PAGES, ...TOKENS }).expect(202);
      await agree();
      const { keys } = (await proxy.get(ada, '/v1/clients/shop/keys').expect(200)).body;
      const tokens = keys.find(({ kind, state }) => kind === 'provider' && state === 'active');
      await supertest(proxy.url)
        .delete(`/v1/clients/shop/keys/${tokens?.id}` as '/v1/clients/{name}/keys/{id}')
        .set('X-API-Key', ada)
        .expect(200);
      await ask({ ...PAGES, ...TOKENS, token_dpop: true }).expect(200);
      await ask({ page_issuer: null }).expect(200);
      expect(await activeKeys()).toEqual(['secret']);
    });
  });
});

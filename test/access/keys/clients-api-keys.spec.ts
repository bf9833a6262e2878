import { ClientsApi, faultsOf, startClientsApi } from '../../support/access/clients-api';
import { first } from '../../support/examples/first';

describe('the keys API', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  it('issues, lists and revokes keys', async () => {
    const first = await api.create('keyed', { person: 'ada' });
    const { body: second } = await api.ask('post', '/keyed/keys').expect(201);
    expect(second).toMatchObject({ client: 'keyed', person: null });
    const expires_at = '2100-01-01T00:00:00.000Z';
    const { body: third } = await api
      .ask('post', '/keyed/keys', { expires_at, person: 'team/grace' })
      .expect(201);
    expect(third).toEqual({
      id: expect.any(String),
      client: 'keyed',
      key: expect.stringMatching(/^pp_keyed_/),
      person: 'team/grace',
      expires_at,
    });
    for (const { key } of [first, second, third]) await api.proxy.get(key, '/v1/limits').expect(200);

    const { body } = await api.ask('delete', `/keyed/keys/${second.id}`).expect(200);
    expect(body).toEqual({ id: second.id, revoked_at: expect.stringMatching(/Z$/) });
    expect((await api.ask('delete', `/keyed/keys/${second.id}`).expect(200)).body).toEqual(body);
    await api.proxy.get(second.key, '/v1/limits').expect(401);
    const { keys } = (await api.ask('get', '/keyed/keys').expect(200)).body;
    expect(keys).toMatchObject([
      { client: 'keyed', person: 'ada', state: 'active', hint: `pp_keyed_…${first.key.slice(-4)}` },
      { id: second.id, person: null, state: 'revoked', revoked_at: body.revoked_at },
      { id: third.id, person: 'team/grace', state: 'active', expires_at },
    ]);
    expect((await api.ask('get', '/keyed')).body.active_keys).toBe(2);
    for (const { key } of [first, second, third]) expect(JSON.stringify(keys)).not.toContain(key);
  });

  it('issues keys for a year, or without expiry for null', async () => {
    const made = await api.create('yearly');
    const issue = async (body: object) =>
      (await api.ask('post', '/yearly/keys', body).expect(201)).body.expires_at;
    for (const expiry of [made.expires_at, await issue({}), await issue({ person: 'ada' })]) {
      const days = (Date.parse(expiry ?? '') - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(364);
      expect(days).toBeLessThan(367);
    }
    expect(await issue({ expires_at: null })).toBeNull();
    expect((await api.create('lasting', { expires_at: null })).expires_at).toBeNull();
    expect((await api.create('short', { expires_at: '2100-01-01T00:00:00Z' })).expires_at).toBe(
      '2100-01-01T00:00:00.000Z',
    );
    const listed = async (name: string) =>
      (await api.ask('get', `/${name}/keys`).expect(200)).body.keys.map(({ expires_at }) => expires_at);
    expect(await listed('yearly')).toEqual([made.expires_at, expect.any(String), expect.any(String), null]);
    expect(await listed('lasting')).toEqual([null]);
    const past = { name: 'past', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' };
    expect(await faultsOf(api.ask('post', '', past))).toEqual([
      { pointer: '/expires_at', detail: 'must be in the future' },
    ]);
  });

  it('does not touch keys of other clients', async () => {
    await api.create('mine');
    await api.create('theirs');
    const { id } = first((await api.ask('get', '/theirs/keys').expect(200)).body.keys);
    for (const path of [
      `/mine/keys/${id}`,
      '/mine/keys/x',
      '/mine/keys/01a1fb98-53b1-7069-a17f-af1e8cacb634',
    ] as const)
      expect((await api.ask('delete', path).expect(404)).body.code).toBe('key_not_found');
    expect((await api.ask('delete', `/nobody/keys/${id}`).expect(404)).body.code).toBe('client_not_found');
    expect((await api.ask('get', '/theirs')).body.active_keys).toBe(1);
  });

  it.each([
    ['expires_at', '2020-01-01T00:00:00Z', 'must be in the future'],
    ['expires_at', 'tomorrow', expect.stringMatching(/^must be an ISO 8601 time.*, or null$/)],
    ['person', '+254712345678', expect.stringMatching(/must not be an email address or phone number/)],
    ['person', 'ada@example.com', expect.stringMatching(/must not be an email address/)],
    ['person', null, expect.any(String)],
    ['narration', 'x', 'must not be sent, because it is not a field of this operation'],
  ])('rejects a new key with a %s of %j', async (name, value, detail) => {
    await api.ask('post', '', { name: 'no-key', scopes: ['read'] });
    const faults = await faultsOf(api.ask('post', '/no-key/keys', { [name]: value }));
    expect(faults).toEqual([{ pointer: `/${name}`, detail }]);
    expect((await api.ask('get', '/no-key')).body.active_keys).toBe(1);
  });
});

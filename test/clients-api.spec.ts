import { Decimal } from 'decimal.js';
import supertest from 'supertest';
import { ClientsService } from '../src/access/clients/clients.service';
import { OPERATIONS } from '../src/operations/catalogue';
import { startProxy, TestProxy } from './support/proxy';

const NO_LIMITS = {
  daily_cap_usd: null,
  monthly_cap_usd: null,
  max_item_usd: null,
  max_call_usd: null,
  approval_over_usd: null,
  max_items: null,
  requests_per_minute: null,
  countries: [],
  addresses: [],
  origins: [],
  require_idempotency_key: false,
};
const NOTHING_SPENT = { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: expect.stringMatching(/Z$/) };
const LIMITS = {
  daily_cap_usd: '10',
  monthly_cap_usd: '100.000001',
  max_item_usd: '5',
  max_call_usd: '8',
  approval_over_usd: '0',
  max_items: 3,
  requests_per_minute: 600,
  countries: ['Kenya', 'Nigeria'],
  addresses: ['10.0.0.0/8', '::1'],
  origins: ['https://shop.example'],
  require_idempotency_key: true,
};

describe('clients over the API', () => {
  let proxy: TestProxy;
  let admin: string;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', extraFieldsAllowed: ['narration'] });
    admin = (await proxy.client('admin', 'admin')).key;
  });
  afterAll(() => proxy.close());

  const ask = (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, key = admin) => {
    const request = supertest(proxy.url)[method](`/v1/clients${path}`).set('X-API-Key', key);
    return body === undefined ? request : request.send(body);
  };
  const create = async (name: string, more: object = {}) =>
    (await ask('post', '', { name, scopes: ['pay', 'read'], ...more }).expect(201)).body;
  const faultsOf = async (request: supertest.Test) => {
    const { body } = await request.expect(400).expect('Content-Type', /^application\/problem\+json/);
    expect(body.code).toBe('invalid_request');
    return body.errors as { pointer: string; detail: string }[];
  };

  it('are made with a key that is shown once, and can use it at once', async () => {
    const made = await create('shop');
    expect(made).toEqual({
      id: expect.any(String),
      name: 'shop',
      scopes: ['pay', 'read'],
      operations: null,
      ...NO_LIMITS,
      created_at: expect.stringMatching(/Z$/),
      active_keys: 1,
      key: expect.stringMatching(/^pp_shop_/),
      usage: { daily: NOTHING_SPENT, monthly: NOTHING_SPENT },
    });
    await proxy.get(made.key, '/v1/limits').expect(200);
    const { key, ...client } = made;
    expect((await ask('get', '/shop').expect(200)).body).toEqual(client);
    const { body } = await ask('get', '').expect(200);
    expect(body.clients.map(({ name }: { name: string }) => name)).toEqual(['admin', 'shop']);
    expect(JSON.stringify(body)).not.toContain(key);
  });

  it('are made with every limit; amounts are numbers or decimal text', async () => {
    expect(await create('limited', LIMITS)).toMatchObject(LIMITS);
    const amounts = { daily_cap_usd: 0.1, monthly_cap_usd: 999_999_999, max_item_usd: 0.000001, max_call_usd: '1.50' };
    expect(await create('numbers', amounts)).toMatchObject({
      daily_cap_usd: '0.1',
      monthly_cap_usd: '999999999',
      max_item_usd: '0.000001',
      max_call_usd: '1.5',
    });
    const operations = ['POST /send', 'GET /wallets/list'];
    expect(await create('some', { operations })).toMatchObject({ operations, ...NO_LIMITS });
    expect(await create('all', { operations: null, countries: null, max_items: null })).toMatchObject({
      operations: null,
      ...NO_LIMITS,
    });
  });

  it('change in what is named; null takes a limit away', async () => {
    await create('changing', LIMITS);
    const change = async (body: object) => {
      const { usage, ...client } = (await ask('patch', '/changing', body).expect(200)).body;
      expect([usage.daily.cap_usd, usage.monthly.cap_usd]).toEqual([client.daily_cap_usd, client.monthly_cap_usd]);
      return client;
    };
    const before = await change({});
    expect(before).toMatchObject({ scopes: ['pay', 'read'], operations: null, ...LIMITS });
    for (const [name, value] of Object.entries(NO_LIMITS)) {
      const changed = await change({ [name]: name === 'require_idempotency_key' ? false : null });
      expect([name, changed]).toEqual([name, { ...before, [name]: value }]);
      expect(await change({ [name]: LIMITS[name as keyof typeof LIMITS] })).toEqual(before);
    }
    expect(await change({ operations: ['POST /send'], scopes: ['write'] })).toEqual({
      ...before,
      operations: ['POST /send'],
      scopes: ['write'],
    });
    expect(await change({ operations: null, countries: [] })).toMatchObject({ operations: null, countries: [] });
  });

  it('change at the same time without undoing each other', async () => {
    await create('busy');
    const names = ['daily_cap_usd', 'monthly_cap_usd', 'max_item_usd', 'max_call_usd', 'approval_over_usd'];
    await Promise.all(names.map((name) => ask('patch', '/busy', { [name]: 7 }).expect(200)));
    expect((await ask('get', '/busy')).body).toMatchObject(Object.fromEntries(names.map((name) => [name, '7'])));
  });

  it('are refused with every fault at its place', async () => {
    const faults = await faultsOf(
      ask('post', '', {
        name: 'No Name',
        scopes: ['pay', 'gold'],
        operations: ['POST /gold'],
        person: 'ada@example.com',
        daily_cap_usd: -1,
        monthly_cap_usd: '1e3',
        max_item_usd: 0,
        max_call_usd: '1.0000001',
        approval_over_usd: 1_000_000_000,
        max_items: 1.5,
        requests_per_minute: '600',
        countries: [' '],
        addresses: ['10.0.0.0/33'],
        origins: ['https://shop.example/'],
        require_idempotency_key: null,
        narration: 'x',
        key: 'pp_mine',
      }),
    );
    const pointers = ['name', 'scopes', 'operations', 'person', ...Object.keys(LIMITS), 'narration', 'key'];
    expect(faults.map(({ pointer }) => pointer).sort()).toEqual(pointers.map((name) => `/${name}`).sort());
    const detailOf = (name: string) => faults.find(({ pointer }) => pointer === `/${name}`)?.detail;
    expect(detailOf('narration')).toBe('is not a field of this operation; remove it');
    expect(detailOf('scopes')).toMatch(/^must be a list of at least one of pay, write, read, /);
    expect(detailOf('operations')).toContain(Object.keys(OPERATIONS).join(', '));
    expect(detailOf('operations')).toMatch(/, or null$/);
    expect(detailOf('person')).toMatch(/no e-mail address and no phone number/);
    expect(detailOf('max_item_usd')).toBe(
      'must be an amount of US dollars greater than 0, at most 999999999, with at most 6 decimals, or null',
    );
    expect(detailOf('require_idempotency_key')).toBe('must be true or false');
  });

  it.each([
    ['name', 'other'],
    ['scopes', null],
    ['scopes', []],
    ['scopes', 'pay'],
    ['operations', []],
    ['countries', 'Kenya'],
    ['countries', [null]],
    ['countries', [{ constructor: 1 }]],
    ['countries', Array.from({ length: 301 }, (_, index) => `Country ${index}`)],
    ['daily_cap_usd', [1]],
    ['daily_cap_usd', { toFixed: 1 }],
    ['daily_cap_usd', ''],
    ['daily_cap_usd', '1000000000'],
    ['daily_cap_usd', true],
    ['origins', ['http://shop.example']],
  ])('are not changed by a %s of %j', async (name, value) => {
    expect(await faultsOf(ask('patch', '/admin', { [name]: value }))).toEqual([
      { pointer: `/${name}`, detail: expect.any(String) },
    ]);
  });

  it('of a name there is not are not found, of one there is not made', async () => {
    for (const path of ['/nobody', '/nobody/keys', '/%00', '/No%20Name'])
      expect((await ask('get', path).expect(404)).body.code).toBe('client_not_found');
    expect((await ask('patch', '/nobody', { max_items: 1 }).expect(404)).body.code).toBe('client_not_found');
    expect((await ask('patch', '/%00', { max_items: 1 }).expect(404)).body.code).toBe('client_not_found');
    expect((await ask('post', '/nobody/keys').expect(404)).body.code).toBe('client_not_found');
    await create('twice');
    const twins = ['twice', 'twins', 'twins'].map((name) => ask('post', '', { name, scopes: ['read'] }));
    const statuses = (await Promise.all(twins)).map(({ status }) => status);
    expect(statuses[0]).toBe(409);
    expect(statuses.slice(1).sort()).toEqual([201, 409]);
    const { body } = await ask('post', '', { name: 'twice', scopes: ['read'] }).expect(409);
    expect(body.code).toBe('client_exists');
  });

  it('have no limit that is none, whoever sets it', async () => {
    const clients = proxy.app.get(ClientsService, { strict: false });
    const wrong = { maxItemUsd: new Decimal(0), dailyCapUsd: new Decimal('0.0000001'), maxItems: 0, origins: ['*'] };
    const told =
      /^daily_cap_usd must be an amount.*; max_item_usd must be an amount.*; max_items must be .*; origins must be /;
    await expect(clients.create('wrong', ['read'], wrong)).rejects.toThrow(told);
    await create('right');
    await expect(clients.update('right', wrong)).rejects.toThrow(told);
    expect((await ask('get', '/right')).body).toMatchObject(NO_LIMITS);
  });

  it('have keys that are issued, listed and revoked', async () => {
    const first = await create('keyed', { person: 'ada' });
    const { body: second } = await ask('post', '/keyed/keys').expect(201);
    expect(second).toMatchObject({ client: 'keyed', person: null, expires_at: null });
    const expires_at = '2100-01-01T00:00:00.000Z';
    const { body: third } = await ask('post', '/keyed/keys', { expires_at, person: 'team/grace' }).expect(201);
    expect(third).toEqual({
      id: expect.any(String),
      client: 'keyed',
      key: expect.stringMatching(/^pp_keyed_/),
      person: 'team/grace',
      expires_at,
    });
    for (const { key } of [first, second, third]) await proxy.get(key, '/v1/limits').expect(200);

    const { body } = await ask('delete', `/keyed/keys/${second.id}`).expect(200);
    expect(body).toEqual({ id: second.id, revoked_at: expect.stringMatching(/Z$/) });
    expect((await ask('delete', `/keyed/keys/${second.id}`).expect(200)).body).toEqual(body);
    await proxy.get(second.key, '/v1/limits').expect(401);
    const { keys } = (await ask('get', '/keyed/keys').expect(200)).body;
    expect(keys).toMatchObject([
      { client: 'keyed', person: 'ada', state: 'active', hint: `pp_keyed_…${first.key.slice(-4)}` },
      { id: second.id, person: null, state: 'revoked', revoked_at: body.revoked_at },
      { id: third.id, person: 'team/grace', state: 'active', expires_at },
    ]);
    expect((await ask('get', '/keyed')).body.active_keys).toBe(2);
    for (const { key } of [first, second, third]) expect(JSON.stringify(keys)).not.toContain(key);
  });

  it('keep the keys of others', async () => {
    await create('mine');
    await create('theirs');
    const [{ id }] = (await ask('get', '/theirs/keys')).body.keys;
    for (const path of [`/mine/keys/${id}`, '/mine/keys/x', '/mine/keys/01a1fb98-53b1-7069-a17f-af1e8cacb634'])
      expect((await ask('delete', path).expect(404)).body.code).toBe('key_not_found');
    expect((await ask('delete', `/nobody/keys/${id}`).expect(404)).body.code).toBe('client_not_found');
    expect((await ask('get', '/theirs')).body.active_keys).toBe(1);
  });

  it.each([
    ['expires_at', '2020-01-01T00:00:00Z', 'must be an instant to come'],
    ['expires_at', 'tomorrow', expect.stringMatching(/^must be an instant in ISO 8601/)],
    ['person', '+254712345678', expect.stringMatching(/no phone number/)],
    ['person', 'ada@example.com', expect.stringMatching(/no e-mail address/)],
    ['person', null, expect.any(String)],
    ['narration', 'x', 'is not a field of this operation; remove it'],
  ])('get no key with a %s of %j', async (name, value, detail) => {
    await ask('post', '', { name: 'no-key', scopes: ['read'] });
    const faults = await faultsOf(ask('post', '/no-key/keys', { [name]: value }));
    expect(faults).toEqual([{ pointer: `/${name}`, detail }]);
    expect((await ask('get', '/no-key')).body.active_keys).toBe(1);
  });

  it('need the scope `admin`', async () => {
    const { key } = await proxy.client('everything-else', 'pay', 'write', 'read', 'audit', 'approve', 'reconcile');
    const statuses = await Promise.all([
      ask('get', '', undefined, key),
      ask('post', '', { name: 'never', scopes: ['admin'] }, key),
      ask('get', '/admin', undefined, key),
      ask('patch', '/everything-else', { scopes: ['admin'] }, key),
      ask('get', '/admin/keys', undefined, key),
      ask('post', '/admin/keys', {}, key),
      ask('delete', '/admin/keys/x', undefined, key),
    ]);
    expect(statuses.map(({ status, body }) => `${status} ${body.code}`)).toEqual(Array(7).fill('403 scope_missing'));
    expect((await ask('get', '/never')).status).toBe(404);
  });
});

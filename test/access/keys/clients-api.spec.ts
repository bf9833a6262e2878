import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import {
  LIMIT_KEYS,
  NO_LIMITS as UNLIMITED,
  toLimitsDocument,
} from '../../../src/access/clients/limits/limits';
import { OPERATIONS } from '../../../src/operations/catalogue/catalogue';
import { ClientsApi, faultsOf, NO_PROVIDERS, startClientsApi } from '../../support/access/clients-api';

const NO_LIMITS = toLimitsDocument(UNLIMITED, LIMIT_KEYS);
const UNSPENT = { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: expect.stringMatching(/Z$/) };
const LIMITS = {
  daily_cap_usd: '10',
  monthly_cap_usd: '100.000001',
  max_item_usd: '5',
  max_call_usd: '8',
  approval_over_usd: '0',
  approval_over_recipient_day_usd: '20',
  approval_over_day_usd: '75.5',
  max_recipient_day_usd: '40',
  hold_duplicates_days: 30,
  max_items: 3,
  requests_per_minute: 600,
  countries: ['Kenya', 'Nigeria'],
  addresses: ['10.0.0.0/8', '::1'],
  origins: ['https://shop.example'],
  require_idempotency_key: true,
  beneficiaries_only: true,
  beneficiary_cool_off_seconds: 86_400,
  person_daily_cap_usd: '2.5',
  person_monthly_cap_usd: '20',
  person_max_item_usd: '1',
  person_requests_per_minute: 30,
};

describe('the clients API', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  it('creates a client, and shows its working key once', async () => {
    const created = await api.create('shop');
    expect(created).toEqual({
      id: expect.any(String),
      name: 'shop',
      account: 'main',
      kind: 'server',
      scopes: ['pay', 'read'],
      operations: null,
      ...NO_LIMITS,
      ...NO_PROVIDERS,
      created_at: expect.stringMatching(/Z$/),
      active_keys: 1,
      key: expect.stringMatching(/^pp_shop_/),
      expires_at: expect.any(String),
      usage: { daily: UNSPENT, monthly: UNSPENT },
    });
    await api.proxy.get(created.key, '/v1/limits').expect(200);
    const { key, expires_at, ...client } = created;
    expect((await api.ask('get', '/shop').expect(200)).body).toEqual(client);
    const { body } = await api.ask('get', '').expect(200);
    expect(body.clients.map(({ name }) => name)).toEqual(['admin', 'shop']);
    expect(JSON.stringify(body)).not.toContain(key);
    expect((await api.ask('get', '/shop/keys').expect(200)).body.keys).toMatchObject([{ expires_at }]);
  });

  it('creates a client with every limit, and accepts amounts as numbers or decimal text', async () => {
    expect(await api.create('limited', LIMITS)).toMatchObject(LIMITS);
    const amounts = {
      daily_cap_usd: 0.1,
      monthly_cap_usd: 999_999_999,
      max_item_usd: 0.000001,
      max_call_usd: '1.50',
    };
    expect(await api.create('numbers', amounts)).toMatchObject({
      daily_cap_usd: '0.1',
      monthly_cap_usd: '999999999',
      max_item_usd: '0.000001',
      max_call_usd: '1.5',
    });
    const operations = ['POST /send', 'GET /wallets/list'];
    expect(await api.create('some', { operations })).toMatchObject({ operations, ...NO_LIMITS });
    expect(await api.create('all', { operations: null, countries: null, max_items: null })).toMatchObject({
      operations: null,
      ...NO_LIMITS,
    });
  });

  it('changes only the named fields, and removes a limit for null', async () => {
    await api.create('changing', LIMITS);
    const change = async (body: object) => {
      const { usage, ...client } = (await api.ask('patch', '/changing', body).expect(200)).body;
      expect([usage.daily.cap_usd, usage.monthly.cap_usd]).toEqual([
        client.daily_cap_usd,
        client.monthly_cap_usd,
      ]);
      return client;
    };
    const before = await change({});
    expect(before).toMatchObject({ scopes: ['pay', 'read'], operations: null, ...LIMITS });
    for (const [name, value] of Object.entries(NO_LIMITS)) {
      const changed = await change({ [name]: value === false ? false : null });
      expect([name, changed]).toEqual([name, { ...before, [name]: value }]);
      expect(await change({ [name]: LIMITS[name as keyof typeof LIMITS] })).toEqual(before);
    }
    expect(await change({ operations: ['POST /send'], scopes: ['write'] })).toEqual({
      ...before,
      operations: ['POST /send'],
      scopes: ['write'],
    });
    expect(await change({ operations: null, countries: [] })).toMatchObject({
      operations: null,
      countries: [],
    });
  });

  it('keeps two concurrent changes', async () => {
    await api.create('busy');
    const names = ['daily_cap_usd', 'monthly_cap_usd', 'max_item_usd', 'max_call_usd', 'approval_over_usd'];
    await Promise.all(names.map((name) => api.ask('patch', '/busy', { [name]: 7 }).expect(200)));
    expect((await api.ask('get', '/busy')).body).toMatchObject(
      Object.fromEntries(names.map((name) => [name, '7'])),
    );
  });

  it('reports every fault with its pointer', async () => {
    const faults = await faultsOf(
      api.ask('post', '', {
        name: 'No Name',
        scopes: ['pay', 'gold'],
        operations: ['POST /gold'],
        person: 'ada@example.com',
        daily_cap_usd: -1,
        monthly_cap_usd: '1e3',
        max_item_usd: 0,
        max_call_usd: '1.0000001',
        approval_over_usd: 1_000_000_000,
        approval_over_recipient_day_usd: 'x',
        approval_over_day_usd: -1,
        max_recipient_day_usd: 0,
        hold_duplicates_days: 91,
        max_items: 1.5,
        requests_per_minute: '600',
        countries: [' '],
        addresses: ['10.0.0.0/33'],
        origins: ['https://shop.example/'],
        require_idempotency_key: null,
        beneficiaries_only: 'yes',
        beneficiary_cool_off_seconds: 2_592_001,
        person_daily_cap_usd: -1,
        person_monthly_cap_usd: '1e3',
        person_max_item_usd: 0,
        person_requests_per_minute: 0,
        narration: 'x',
        key: 'pp_mine',
      }),
    );
    const pointers = ['name', 'scopes', 'operations', 'person', ...Object.keys(LIMITS), 'narration', 'key'];
    expect(faults.map(({ pointer }) => pointer).sort()).toEqual(pointers.map((name) => `/${name}`).sort());
    const detailOf = (name: string) => faults.find(({ pointer }) => pointer === `/${name}`)?.detail;
    expect(detailOf('narration')).toBe('must not be sent, because it is not a field of this operation');
    expect(detailOf('scopes')).toMatch(/^must be a list of at least one of pay, write, read, /);
    expect(detailOf('operations')).toContain(Object.keys(OPERATIONS).join(', '));
    expect(detailOf('operations')).toMatch(/, or null$/);
    expect(detailOf('person')).toMatch(/must not be an email address or phone number/);
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
  ])('rejects a change of %s to %j', async (name, value) => {
    expect(await faultsOf(api.ask('patch', '/admin', { [name]: value }))).toEqual([
      { pointer: `/${name}`, detail: expect.any(String) },
    ]);
  });

  it('returns 404 for an unknown client, and 409 for an existing one', async () => {
    for (const path of ['/nobody', '/nobody/keys', '/%00', '/No%20Name'] as const)
      expect((await api.ask('get', path).expect(404)).body.code).toBe('client_not_found');
    expect((await api.ask('patch', '/nobody', { max_items: 1 }).expect(404)).body.code).toBe(
      'client_not_found',
    );
    expect((await api.ask('patch', '/%00', { max_items: 1 }).expect(404)).body.code).toBe('client_not_found');
    expect((await api.ask('post', '/nobody/keys').expect(404)).body.code).toBe('client_not_found');
    await api.create('twice');
    const concurrent = ['twice', 'new', 'new'].map((name) => api.ask('post', '', { name, scopes: ['read'] }));
    const statuses = (await Promise.all(concurrent)).map(({ status }) => status);
    expect(statuses[0]).toBe(409);
    expect(statuses.slice(1).sort()).toEqual([201, 409]);
    const { body } = await api.ask('post', '', { name: 'twice', scopes: ['read'] }).expect(409);
    expect(body.code).toBe('client_exists');
  });

  it('rejects invalid limits in the clients service', async () => {
    const clients = api.proxy.app.get(ClientsService, { strict: false });
    const wrong = {
      maxItemUsd: new Decimal(0),
      dailyCapUsd: new Decimal('0.0000001'),
      maxItems: 0,
      origins: ['*'],
    };
    const fields = ['daily_cap_usd', 'max_item_usd', 'max_items', 'origins'];
    const message = new RegExp(`^${fields.map((field) => `${field} must be `).join('.*; ')}`);
    await expect(clients.create('wrong', ['read'], wrong)).rejects.toThrow(message);
    await api.create('right');
    await expect(clients.update('right', wrong)).rejects.toThrow(message);
    expect((await api.ask('get', '/right')).body).toMatchObject(NO_LIMITS);
  });

  it('requires the scope `admin`', async () => {
    const scopes = ['pay', 'write', 'read', 'audit', 'approve', 'reconcile'] as const;
    const { key } = await api.proxy.client('everything-else', ...scopes);
    const statuses = await Promise.all([
      api.ask('get', '', undefined, key),
      api.ask('post', '', { name: 'never', scopes: ['admin'] }, key),
      api.ask('get', '/admin', undefined, key),
      api.ask('patch', '/everything-else', { scopes: ['admin'] }, key),
      api.ask('get', '/admin/keys', undefined, key),
      api.ask('post', '/admin/keys', {}, key),
      api.ask('delete', '/admin/keys/x', undefined, key),
    ]);
    expect(statuses.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      Array(7).fill('403 scope_missing'),
    );
    expect((await api.ask('get', '/never')).status).toBe(404);
  });
});

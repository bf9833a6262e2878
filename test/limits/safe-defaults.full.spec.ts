import { NO_DAILY_CAP } from '../../src/admin/clients/client-rules';
import { clientsCommands } from '../../src/cli/clients/clients';
import { keysCommands } from '../../src/cli/clients/keys';
import { ClientsApi, faultsOf, startClientsApi } from '../support/access/clients-api';
import { TestDatabase } from '../support/databases/test-database';
import { cliOf, createCommandDatabase } from '../support/processes/cli';

/** Uncapped payments and keys without an expiry require an explicit option. */
describe('the defaults of the API', () => {
  let api: ClientsApi;

  beforeAll(async () => {
    api = await startClientsApi();
  });
  afterAll(() => api.close());

  it('requires a daily cap, or null, for a client that may pay or redeem', async () => {
    const told = [{ pointer: '/daily_cap_usd', detail: NO_DAILY_CAP }];
    const unnamed = (body: object) => faultsOf(api.ask('post', '', { name: 'uncapped', ...body }));
    expect(await unnamed({ scopes: ['pay'] })).toEqual(told);
    expect(await unnamed({ scopes: ['read', 'write'], operations: null })).toEqual(told);
    expect(await unnamed({ scopes: ['pay'], operations: ['POST /send', 'POST /payouts/credit'] })).toEqual(
      told,
    );
    expect(await unnamed({ scopes: ['pay'], max_items: 0, expires_at: 'soon' })).toEqual(
      expect.arrayContaining([...told, { pointer: '/max_items', detail: expect.any(String) }]),
    );
    await api.ask('get', '/uncapped').expect(404);
    expect(await api.create('zero', { daily_cap_usd: 0 })).toMatchObject({ daily_cap_usd: '0' });
    const harmless = { scopes: ['pay', 'read', 'audit'], operations: ['GET /wallets/list'] };
    await api.ask('post', '', { name: 'harmless', ...harmless }).expect(201);
  });

  it('requires a daily cap, or null, for a change after which a client may pay', async () => {
    await api.ask('post', '', {
      name: 'growing',
      scopes: ['read', 'pay'],
      operations: ['GET /wallets/list'],
    });
    const change = (body: object) => api.ask('patch', '/growing', body);
    const told = [{ pointer: '/daily_cap_usd', detail: NO_DAILY_CAP }];
    expect(await faultsOf(change({ operations: null, monthly_cap_usd: 10 }))).toEqual(told);
    expect(await faultsOf(change({ operations: ['POST /payouts/airtime'] }))).toEqual(told);
    await change({ scopes: ['read'], operations: null }).expect(200);
    expect(await faultsOf(change({ scopes: ['pay'] }))).toEqual(told);
    expect((await api.ask('get', '/growing')).body).toMatchObject({
      scopes: ['read'],
      monthly_cap_usd: null,
    });
    await change({ scopes: ['pay'], daily_cap_usd: null }).expect(200);
    await change({ scopes: ['pay', 'read'], max_items: 5 }).expect(200); // it could pay before
    await change({ scopes: ['read'], daily_cap_usd: 5 }).expect(200);
    await change({ scopes: ['pay'] }).expect(200); // its cap still applies
    expect((await faultsOf(api.ask('patch', '/nobody', { scopes: ['x'] })))[0]?.pointer).toBe('/scopes');
  });
});

describe('the defaults of the commands', () => {
  let database: TestDatabase;

  beforeAll(async () => (database = await createCommandDatabase()));
  afterAll(() => database.close());

  const clients = async (...args: string[]) => (await cliOf(clientsCommands)(...args)).stdout;
  const keys = async (...args: string[]) => (await cliOf(keysCommands)(...args)).stdout;
  const create = (name: string, ...args: string[]) =>
    clients('create', '--name', name, '--scopes', 'pay', '--daily-cap', '10', ...args);
  const update = (name: string, ...args: string[]) => clients('update', '--name', name, ...args);

  it('requires a daily cap, or none by name, for a client that may pay', async () => {
    const scopes = (...words: string[]) => clients('create', '--name', 'uncapped', '--scopes', ...words);
    const told = /^A client that may pay or redeem needs a daily cap\. Give --daily-cap .*--daily-cap none/;
    await expect(scopes('pay')).rejects.toThrow(told);
    await expect(scopes('write')).rejects.toThrow(told);
    await scopes('pay', '--operations', 'GET /wallets/list');
    await expect(update('uncapped', '--operations', 'all')).rejects.toThrow(told);
    await update('uncapped', '--operations', 'all', '--daily-cap', 'none');
  });

  it('issues keys for a year, or for --expires', async () => {
    const issue = (...args: string[]) => keys('issue', '--client', 'yearly', ...args);
    await create('yearly');
    await create('lasting', '--expires', 'never');
    await issue();
    await issue('--expires', '2100-01-01T00:00:00Z');
    expect(await issue('--expires', 'never')).toMatch(/expires_at\n.* -\n$/);
    const expiries = async (name: string) => {
      const listed = JSON.parse(await keys('list', '--client', name, '--json')) as {
        expires_at: string | null;
      }[];
      return listed.map(
        ({ expires_at: at }) => at && Math.floor((Date.parse(at) - Date.now()) / 86_400_000 / 10),
      );
    };
    const [first, second, third, fourth] = await expiries('yearly');
    expect([first, second, fourth]).toEqual([36, 36, null]); // tens of days
    expect(third).toBeGreaterThan(1_000);
    expect(await expiries('lasting')).toEqual([null]);
    for (const wrong of ['2020-01-01T00:00:00Z', 'soon', ''])
      await expect(issue(`--expires=${wrong}`)).rejects.toThrow(
        /^--expires must be a future time .*, or never\.$/,
      );
  });
});

import { clientsCommands } from '../src/cli/clients';
import { keysCommands } from '../src/cli/keys';
import { cliOf } from './support/cli';
import { createTestDatabase, TestDatabase } from './support/test-database';

/** The commands for clients whose end users are known, against a database of their own. */
describe('the commands for end users', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    process.env.DATABASE_URL = database.url;
    process.env.DATABASE_OWNER_URL = database.ownerUrl;
    process.env.DUAL_CONTROL = 'false';
  });
  afterAll(() => database.close());

  const clients = cliOf(clientsCommands);
  const keys = cliOf(keysCommands);
  const create = async (name: string, ...args: string[]) => {
    const what = ['--name', name, '--scopes', 'pay,read', '--daily-cap', 'none', '--json'];
    return JSON.parse((await clients('create', ...what, ...args)).stdout) as Record<string, unknown>;
  };

  it('create a public client, which has no key', async () => {
    expect(Object.keys(await create('phone', '--kind', 'public'))).toEqual(['id', 'name']);
    expect(Object.keys(await create('backend', '--kind', 'server'))).toEqual(['id', 'name', 'key']);
    const issuing = keys('issue', '--client', 'phone');
    await expect(issuing).rejects.toThrow(/the client phone is public, so it has no secret keys/);
    await expect(create('wrong', '--kind', 'native')).rejects.toThrow('--kind must be one of server, public.');
    for (const option of ['--person', '--expires']) {
      const creating = create('wrong', '--kind', 'public', option, 'ada');
      await expect(creating).rejects.toThrow('A public client has no secret keys. Leave out --person and --expires.');
    }
  });
});

import { clientsCommands } from '../src/cli/clients';
import { OPERATIONS } from '../src/forwarding/operations';
import { createTestDatabase, TestDatabase } from './support/test-database';

const NAMES = Object.keys(OPERATIONS);
const DOCUMENTED = NAMES.filter((name) => OPERATIONS[name as keyof typeof OPERATIONS].source === 'documented');

/** The commands as operators type them, against a database of their own. */
describe('the clients commands', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    process.env.DATABASE_URL = database.url;
    process.env.DATABASE_OWNER_URL = database.ownerUrl;
  });
  afterAll(() => database.close());

  async function cli(...args: string[]): Promise<string> {
    let said = '';
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    try {
      await clientsCommands().parseAsync(args, { from: 'user' });
    } finally {
      stdout.mockRestore();
    }
    return said;
  }

  const create = (name: string, ...args: string[]) =>
    cli('create', '--name', name, '--scopes', 'pay,read', '--json', ...args);
  const update = async (name: string, ...args: string[]) =>
    JSON.parse(await cli('update', '--name', name, '--json', ...args)) as Record<string, unknown>;
  const operationsOf = async (name: string) => {
    const listed = JSON.parse(await cli('list', '--json')) as { name: string; operations: string[] | null }[];
    return listed.find((client) => client.name === name)?.operations;
  };

  it('create a client that may use all, or what the options name', async () => {
    expect(Object.keys(JSON.parse(await create('free')) as object)).toEqual(['id', 'name', 'key']);
    expect(await operationsOf('free')).toBeNull();
    await create('all', '--operations', 'all');
    expect(await operationsOf('all')).toBeNull();
    await create('two', '--operations', ' POST /send , POST /payouts/airtime,POST /send');
    expect(await operationsOf('two')).toEqual(['POST /send', 'POST /payouts/airtime']);
    await create('documented', '--operations', 'documented');
    expect(await operationsOf('documented')).toEqual(DOCUMENTED);
    await create('mixed', '--operations', 'documented,GET /info/assets', '--without-operations', 'POST /send');
    expect(await operationsOf('mixed')).toEqual([...DOCUMENTED.slice(1), 'GET /info/assets']);
    await create('less', '--without-operations', 'observed,POST /send');
    expect(await operationsOf('less')).toEqual(DOCUMENTED.slice(1));
  });

  it('update what a client may do; what is not named stays', async () => {
    await create('changing');
    expect(await update('changing', '--without-operations', 'observed')).toMatchObject({ operations: DOCUMENTED });
    expect(await update('changing', '--without-operations', 'POST /send')).toMatchObject({
      ...{ scopes: ['pay', 'read'], operations: DOCUMENTED.slice(1) },
    });
    expect(await update('changing', '--scopes', 'write')).toMatchObject({
      ...{ scopes: ['write'], operations: DOCUMENTED.slice(1) },
    });
    expect(await update('changing', '--operations', 'all')).toMatchObject({ scopes: ['write'], operations: null });
  });

  it('refuse a name there is not, with those there are', async () => {
    for (const list of ['POST /gold', 'post /send', 'everything', '', ' , ']) {
      const refused = create('never', '--operations', list);
      await expect(refused).rejects.toThrow(
        /^unknown operations: .+; there are all, documented, observed, POST \/send, /,
      );
      await expect(create('never', '--without-operations', list)).rejects.toThrow(NAMES.join(', '));
    }
    expect(await operationsOf('never')).toBeUndefined();
  });

  it('refuse to leave a client nothing, and to change nothing', async () => {
    await create('keeping');
    await expect(update('keeping', '--without-operations', 'all')).rejects.toThrow(/leaves the client no operation/);
    await expect(update('keeping')).rejects.toThrow('say what to change: --scopes, --operations or');
    await expect(update('nobody', '--operations', 'all')).rejects.toThrow('there is no client nobody');
    expect(await operationsOf('keeping')).toBeNull();
  });

  it('list how many operations each client may use', async () => {
    await create('three', '--operations', 'POST /send,GET /info/assets,GET /wallets/list');
    await create('unlimited');
    const table = await cli('list');
    expect(table).toMatch(new RegExp(`three +pay,read +3 of ${NAMES.length} `));
    expect(table).toMatch(/unlimited +pay,read +all /);
    expect(await cli('update', '--name', 'three', '--operations', 'POST /send')).toMatch(/ 1 of \d+ /);
  });

  it.each(['create', 'update'])('%s --help names every operation and gives examples', (name) => {
    const command = clientsCommands().commands.find((one) => one.name() === name);
    let help = '';
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    for (const operation of NAMES) expect(help).toContain(`  ${operation}\n`);
    expect(help).toMatch(new RegExp(`Examples:\n  npm run cli -- clients ${name} --name `));
  });
});

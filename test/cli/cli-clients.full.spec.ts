import { userInfo } from 'node:os';
import { clientsCommands } from '../../src/cli/clients/clients';
import { keysCommands } from '../../src/cli/clients/keys';
import { OPERATION_NAMES as NAMES, sourceOf } from '../../src/operations/catalogue/catalogue';
import { TestDatabase } from '../support/databases/test-database';
import { cliOf, createCommandDatabase } from '../support/processes/cli';

const DOCUMENTED = NAMES.filter((name) => sourceOf(name) === 'documented');

describe('the clients command', () => {
  let database: TestDatabase;

  beforeAll(async () => (database = await createCommandDatabase()));
  afterAll(() => database.close());

  const cli = async (...args: string[]) => (await cliOf(clientsCommands)(...args)).stdout;
  const keys = async (...args: string[]) => (await cliOf(keysCommands)(...args)).stdout;

  const create = (name: string, ...args: string[]) =>
    cli('create', '--name', name, '--scopes', 'pay,read', '--daily-cap', 'none', '--json', ...args);
  const update = async (name: string, ...args: string[]) =>
    JSON.parse(await cli('update', '--name', name, '--json', ...args)) as Record<string, unknown>;
  const operationsOf = async (name: string) => {
    const listed = JSON.parse(await cli('list', '--json')) as { name: string; operations: string[] | null }[];
    return listed.find((client) => client.name === name)?.operations;
  };

  it('records every change with the operating system user and the reason', async () => {
    await create('recorded', '--daily-cap', '10', '--reason', 'A new shop of ada@example.com');
    await update('recorded', '--daily-cap', '99.5');
    const { id } = JSON.parse(await keys('issue', '--client', 'recorded', '--json')) as {
      id: string;
    };
    await keys('revoke', id, '--reason', 'Leaked');
    const acts = await database.query(
      `SELECT action, before, after, reason, via, actor, client_id, target_key_id FROM activity
       WHERE target_client = 'recorded' ORDER BY acted_at`,
    );
    const by = { via: 'cli', actor: userInfo().username, client_id: null };
    expect(acts).toMatchObject([
      { ...by, action: 'client_created', before: null, reason: 'A new shop of a••@example.com' },
      { ...by, action: 'key_issued', before: null },
      {
        ...by,
        action: 'limits_changed',
        before: '{"daily_cap_usd":"10"}',
        after: '{"daily_cap_usd":"99.5"}',
      },
      { ...by, action: 'key_issued', target_key_id: id, reason: null },
      { ...by, action: 'key_revoked', target_key_id: id, reason: 'Leaked' },
    ]);
    await expect(update('recorded', '--daily-cap', '1', '--reason', 'a\nb')).rejects.toThrow(
      /--reason must be text/,
    );
  });

  it('creates a client with all operations, or only the given ones', async () => {
    expect(Object.keys(JSON.parse(await create('free')) as object)).toEqual(['id', 'name', 'key']);
    expect(await operationsOf('free')).toBeNull();
    await create('all', '--operations', 'all');
    expect(await operationsOf('all')).toBeNull();
    await create('two', '--operations', ' POST /send , POST /payouts/airtime,POST /send');
    expect(await operationsOf('two')).toEqual(['POST /send', 'POST /payouts/airtime']);
    await create('documented', '--operations', 'documented');
    expect(await operationsOf('documented')).toEqual(DOCUMENTED);
    await create(
      'mixed',
      '--operations',
      'documented,GET /info/assets',
      '--without-operations',
      'POST /send',
    );
    expect(await operationsOf('mixed')).toEqual([...DOCUMENTED.slice(1), 'GET /info/assets']);
    await create('less', '--without-operations', 'observed,POST /send');
    expect(await operationsOf('less')).toEqual(DOCUMENTED.slice(1));
  });

  it('updates only the given options', async () => {
    await create('changing');
    expect(await update('changing', '--without-operations', 'observed')).toMatchObject({
      operations: DOCUMENTED,
    });
    expect(await update('changing', '--without-operations', 'POST /send')).toMatchObject({
      scopes: ['pay', 'read'],
      operations: DOCUMENTED.slice(1),
    });
    expect(await update('changing', '--scopes', 'write')).toMatchObject({
      scopes: ['write'],
      operations: DOCUMENTED.slice(1),
    });
    expect(await update('changing', '--operations', 'all', '--daily-cap', 'none')).toMatchObject({
      scopes: ['write'],
      operations: null,
    });
  });

  it('rejects an unknown name, and lists the known ones', async () => {
    for (const list of ['POST /gold', 'post /send', 'everything', '', ' , ']) {
      const refused = create('never', '--operations', list);
      await expect(refused).rejects.toThrow(
        /^Unknown operations: .+\. Use all, documented, observed, or these names: POST \/send, /,
      );
      await expect(create('never', '--without-operations', list)).rejects.toThrow(NAMES.join(', '));
    }
    expect(await operationsOf('never')).toBeUndefined();
  });

  it('rejects an empty change, and one that removes all permissions', async () => {
    await create('keeping');
    await expect(update('keeping', '--without-operations', 'all')).rejects.toThrow(
      /must be allowed at least one operation/,
    );
    await expect(update('keeping')).rejects.toThrow(
      'Give at least one change: --scopes, --operations, --without-operations, a limit, or a provider.',
    );
    await expect(update('nobody', '--operations', 'all')).rejects.toThrow('no client has the name nobody');
    expect(await operationsOf('keeping')).toBeNull();
  });

  it('lists the number of operations of each client', async () => {
    await create('three', '--operations', 'POST /send,GET /info/assets,GET /wallets/list');
    await create('unlimited');
    const table = await cli('list');
    expect(table).toMatch(new RegExp(`three +server +pay,read +3 of ${NAMES.length} +none `));
    expect(table).toMatch(/unlimited +server +pay,read +all /);
    expect(await cli('update', '--name', 'three', '--operations', 'POST /send')).toMatch(/ 1 of \d+ /);
  });

  const listed = async (name: string) =>
    (JSON.parse(await cli('list', '--json')) as { name: string }[]).find((client) => client.name === name);

  it('shows the owner of a key, and rejects contacts as IDs', async () => {
    await create('desk', '--person', 'ada');
    await keys('issue', '--client', 'desk', '--person', 'team/grace', '--json');
    await keys('issue', '--client', 'desk');
    const listedKeys = JSON.parse(await keys('list', '--client', 'desk', '--json')) as {
      person: unknown;
    }[];
    expect(listedKeys.map(({ person }) => person)).toEqual(['ada', 'team/grace', null]);
    for (const person of ['ada@example.com', '+254712345678', '', 'a b', 'x'.repeat(129)]) {
      await expect(create('nobodys', `--person=${person}`)).rejects.toThrow(/^the ID of a person must be/);
      await expect(keys('issue', '--client', 'desk', `--person=${person}`)).rejects.toThrow(
        /^the ID of a person must be/,
      );
    }
    expect(await listed('nobodys')).toBeUndefined();
  });

  it.each(['create', 'update'])('names every operation and gives examples in %s --help', (name) => {
    const command = clientsCommands().commands.find((child) => child.name() === name);
    let help = '';
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    for (const operation of NAMES) expect(help).toContain(`  ${operation}\n`);
    expect(help).toMatch(new RegExp(`Examples:\n  npm run cli -- clients ${name} --name `));
  });
});

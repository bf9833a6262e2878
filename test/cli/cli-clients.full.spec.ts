import { userInfo } from 'node:os';
import { Command } from 'commander';
import { clientsCommands } from '../../src/cli/clients/clients';
import { keysCommands } from '../../src/cli/clients/keys';
import { OPERATION_NAMES as NAMES, sourceOf } from '../../src/operations/catalogue/catalogue';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';

const DOCUMENTED = NAMES.filter((name) => sourceOf(name) === 'documented');

/** The commands as operators type them, against a database of their own. */
describe('the clients command', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    process.env.DATABASE_URL = database.url;
    process.env.DATABASE_OWNER_URL = database.ownerUrl;
    process.env.DUAL_CONTROL = 'false';
  });
  afterAll(() => database.close());

  const cli = (...args: string[]) => run(clientsCommands(), args);

  async function run(command: Command, args: string[]): Promise<string> {
    let said = '';
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    try {
      await command.parseAsync(args, { from: 'user' });
    } finally {
      stdout.mockRestore();
    }
    return said;
  }

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
    const { id } = JSON.parse(await run(keysCommands(), ['issue', '--client', 'recorded', '--json'])) as {
      id: string;
    };
    await run(keysCommands(), ['revoke', id, '--reason', 'Leaked']);
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

  const LIMITS = ['--daily-cap', '10', '--monthly-cap', '100', '--max-item', '5', '--max-call', '8.50'];
  const MORE_LIMITS = [
    '--approval-over',
    '50',
    '--rpm',
    '600',
    '--max-items',
    '3',
    '--countries',
    'Kenya, Nigeria',
  ];
  const OVER_TIME = [
    '--approval-over-recipient-day',
    '20',
    '--approval-over-day',
    '75.5',
    '--max-recipient-day',
    '40',
  ];
  const DUPLICATES = ['--hold-duplicates', '30', '--beneficiary-cool-off', '86400'];
  const SOURCES = ['--addresses', '10.0.0.0/8,::1', '--origins', 'https://shop.example'];
  const SWITCHES = ['--require-idempotency-key', '--beneficiaries-only'];
  const LIMITED = {
    daily_cap_usd: '10',
    monthly_cap_usd: '100',
    max_item_usd: '5',
    max_call_usd: '8.5',
    approval_over_usd: '50',
    approval_over_recipient_day_usd: '20',
    approval_over_day_usd: '75.5',
    max_recipient_day_usd: '40',
    hold_duplicates_days: 30,
    requests_per_minute: 600,
    max_items: 3,
    countries: ['Kenya', 'Nigeria'],
    addresses: ['10.0.0.0/8', '::1'],
    origins: ['https://shop.example'],
    require_idempotency_key: true,
    beneficiaries_only: true,
    beneficiary_cool_off_seconds: 86_400,
  };
  const UNLIMITED = {
    daily_cap_usd: null,
    monthly_cap_usd: null,
    max_item_usd: null,
    max_call_usd: null,
    approval_over_usd: null,
    approval_over_recipient_day_usd: null,
    approval_over_day_usd: null,
    max_recipient_day_usd: null,
    hold_duplicates_days: null,
    requests_per_minute: null,
    max_items: null,
    countries: [],
    addresses: [],
    origins: [],
    require_idempotency_key: false,
    beneficiaries_only: false,
    beneficiary_cool_off_seconds: null,
  };
  const listed = async (name: string) =>
    (JSON.parse(await cli('list', '--json')) as { name: string }[]).find((client) => client.name === name);

  it('creates a client with limits, changes one, and removes each', async () => {
    const limits = [...LIMITS, ...MORE_LIMITS, ...OVER_TIME, ...DUPLICATES, ...SOURCES];
    await create('limited', ...limits, ...SWITCHES);
    expect(await listed('limited')).toMatchObject(LIMITED);
    expect(await update('limited', '--daily-cap', '12.000001')).toMatchObject({
      ...LIMITED,
      daily_cap_usd: '12.000001',
      scopes: ['pay', 'read'],
      operations: null,
    });
    expect(await update('limited', '--scopes', 'pay')).toMatchObject({ daily_cap_usd: '12.000001' });
    const options = limits.filter((word) => word.startsWith('--'));
    const none = options.flatMap((option) => [option, 'none']);
    const off = SWITCHES.map((option) => option.replace('--', '--no-'));
    expect(await update('limited', ...none, ...off)).toMatchObject(UNLIMITED);
    await create('free-of-limits', ...none);
    expect(await listed('free-of-limits')).toMatchObject(UNLIMITED);
  });

  it.each([
    ['--daily-cap', '-1', 'from 0, at most 999999999, with at most 6 decimals, or none'],
    ['--monthly-cap', '1.0000001', 'must be an amount of US dollars from 0'],
    ['--max-item', '0', 'must be an amount of US dollars greater than 0'],
    ['--max-call', '1000000000', 'at most 999999999'],
    ['--approval-over', '', 'must be an amount'],
    ['--max-recipient-day', '0', 'must be an amount of US dollars greater than 0'],
    ['--hold-duplicates', '91', 'must be a whole number from 1 to 90'],
    ['--max-items', '0', 'must be a whole number from 1'],
    ['--rpm', '1.5', 'must be a whole number from 1'],
    ['--countries', ' , ', 'must be a list of at most 300 names of countries'],
    ['--addresses', '10.0.0.0/33', 'must be a list of at most 300 IP addresses or CIDR blocks'],
    ['--origins', 'https://shop.example/', 'such as https://shop.example, or none'],
  ])('rejects %s %j, and states the allowed values', async (option, value, text) => {
    const refused = expect(create('never-limited', `${option}=${value}`)).rejects;
    await refused.toThrow(text);
    await expect(create('never-limited', `${option}=${value}`)).rejects.toThrow(
      new RegExp(`^${option} must be`),
    );
    expect(await listed('never-limited')).toBeUndefined();
  });

  it('lists the limits in one short column', async () => {
    await create('short', ...LIMITS, '--countries', 'Kenya', '--require-idempotency-key');
    expect(await cli('list')).toMatch(
      / all +daily cap 10, monthly cap 100, largest item 5, largest call 8\.5, 1 countries, requires an Idempotency-Key +\d{4}-/,
    );
  });

  it('shows the owner of a key, and rejects contacts as IDs', async () => {
    await create('desk', '--person', 'ada');
    await run(keysCommands(), ['issue', '--client', 'desk', '--person', 'team/grace', '--json']);
    await run(keysCommands(), ['issue', '--client', 'desk']);
    const keys = JSON.parse(await run(keysCommands(), ['list', '--client', 'desk', '--json'])) as {
      person: unknown;
    }[];
    expect(keys.map(({ person }) => person)).toEqual(['ada', 'team/grace', null]);
    for (const person of ['ada@example.com', '+254712345678', '', 'a b', 'x'.repeat(129)]) {
      await expect(create('nobodys', `--person=${person}`)).rejects.toThrow(/^the ID of a person must be/);
      await expect(run(keysCommands(), ['issue', '--client', 'desk', `--person=${person}`])).rejects.toThrow(
        /^the ID of a person must be/,
      );
    }
    expect(await listed('nobodys')).toBeUndefined();
  });

  it.each(['create', 'update'])('names every operation and gives examples in %s --help', (name) => {
    const command = clientsCommands().commands.find((one) => one.name() === name);
    let help = '';
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    for (const operation of NAMES) expect(help).toContain(`  ${operation}\n`);
    expect(help).toMatch(new RegExp(`Examples:\n  npm run cli -- clients ${name} --name `));
  });
});

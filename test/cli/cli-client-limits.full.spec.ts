import { clientsCommands } from '../../src/cli/clients/clients';
import { TestDatabase } from '../support/databases/test-database';
import { cliOf, createCommandDatabase } from '../support/processes/cli';

describe('the limit options of the clients command', () => {
  let database: TestDatabase;

  beforeAll(async () => (database = await createCommandDatabase()));
  afterAll(() => database.close());

  const cli = async (...args: string[]) => (await cliOf(clientsCommands)(...args)).stdout;

  const create = (name: string, ...args: string[]) =>
    cli('create', '--name', name, '--scopes', 'pay,read', '--daily-cap', 'none', '--json', ...args);
  const update = async (name: string, ...args: string[]) =>
    JSON.parse(await cli('update', '--name', name, '--json', ...args)) as Record<string, unknown>;

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
  const DAY_LIMITS = '--approval-over-recipient-day 20 --approval-over-day 75.5 --max-recipient-day 40'.split(
    ' ',
  );
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
    const limits = [...LIMITS, ...MORE_LIMITS, ...DAY_LIMITS, ...DUPLICATES, ...SOURCES];
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
    const rejection = expect(create('never-limited', `${option}=${value}`)).rejects;
    await rejection.toThrow(text);
    const command = create('never-limited', `${option}=${value}`);
    await expect(command).rejects.toThrow(new RegExp(`^${option} must be`));
    expect(await listed('never-limited')).toBeUndefined();
  });

  it('lists the limits in one short column', async () => {
    await create('short', ...LIMITS, '--countries', 'Kenya', '--require-idempotency-key');
    expect(await cli('list')).toMatch(
      new RegExp(
        ' all +daily cap 10, monthly cap 100, largest item 5, largest call 8\\.5, 1 countries, ' +
          'requires an Idempotency-Key +\\d{4}-',
      ),
    );
  });
});

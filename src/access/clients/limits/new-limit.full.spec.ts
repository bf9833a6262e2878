import { readdirSync, readFileSync } from 'node:fs';
import {
  changesInWords,
  changesOf,
  LIMITS,
  NO_LIMITS as EMPTY_FORM,
} from '../../../../console/src/pages/clients/limits/draft';
import type * as PrismaWithColumn from '../../../../test/support/databases/prisma-with-column';
import { createTestDatabase } from '../../../../test/support/databases/test-database';
import type * as Row from '../../../../test/support/examples/min-item/row';
import type * as Rule from '../../../../test/support/examples/min-item/rule';
import { FakeUpstream, succeed } from '../../../../test/support/network/fake-upstream';
import { AIRTIME } from '../../../../test/support/payments/paying';
import { cliOf } from '../../../../test/support/processes/cli';
import { startProxy, TestProxy } from '../../../../test/support/processes/proxy';
import { describeApi } from '../../../cli/api-document';
import { clientsCommands } from '../../../cli/clients/clients';
import type * as LimitRules from '../../../policy/limits/limit-rules';
import { NO_GRANTS, expansions } from '../../dual-control/expansion';
import { fromPermissions } from '../grants';
import type * as LimitTable from './limit-table';

const FOLDER = 'test/support/examples/min-item';

// The example limit of the guide: its row, column and rule. Its migration is applied below.
jest.mock<Partial<typeof LimitTable>>('./limit-table', () => {
  const { LIMIT_TABLE } = jest.requireActual<typeof LimitTable>('./limit-table');
  const { MIN_ITEM } = jest.requireActual<typeof Row>('../../../../test/support/examples/min-item/row');
  return { LIMIT_TABLE: { ...LIMIT_TABLE, ...MIN_ITEM } };
});
jest.mock('../../../platform/database/generated/client', () => {
  const path = '../../../../test/support/databases/prisma-with-column';
  return jest
    .requireActual<typeof PrismaWithColumn>(path)
    .prismaWithColumn('test/support/examples/min-item', 'Client');
});
jest.mock<typeof LimitRules>('../../../policy/limits/limit-rules', () => {
  const actual = jest.requireActual<typeof LimitRules>('../../../policy/limits/limit-rules');
  const { tooLittle } = jest.requireActual<typeof Rule>('../../../../test/support/examples/min-item/rule');
  return {
    ...actual,
    brokenLimits: (limits, movesValue, items, pointerOf) => {
      const another = tooLittle(limits as never, items, pointerOf);
      return [...actual.brokenLimits(limits, movesValue, items, pointerOf), ...(another ? [another] : [])];
    },
  };
});

describe('limit added by the guide', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    const database = await createTestDatabase();
    await database.query(readFileSync(`${FOLDER}/migration.sql`, 'utf8'));
    proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    for (const scope of ['admin', 'approve', 'audit'] as const)
      keys[scope] = (await proxy.client(scope, scope)).key;
    process.env.DATABASE_URL = database.url;
    process.env.DATABASE_OWNER_URL = database.ownerUrl;
    process.env.DUAL_CONTROL = 'false';
  });
  afterAll(async () => {
    await upstream.stop();
    await proxy.close();
    await proxy.database.close();
  });

  /** Bypasses the test client, which compares every response with the OpenAPI document. */
  async function ask(method: string, path: string, key = '', body?: object) {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${proxy.url}${path}`, init);
    const { status } = response;
    return {
      status,
      body: (await response.json()) as Record<string, unknown>,
      call: response.headers.get('x-call-id'),
    };
  }

  const change = (name: string, body: object) => ask('PATCH', `/v1/clients/${name}`, keys.admin, body);
  const pay = (key: string, prefix = '/api/v0.1') => ask('POST', `${prefix}/payouts/airtime`, key, AIRTIME);
  const create = async (name: string, limits: object) => {
    const body = { name, scopes: ['pay', 'read'], daily_cap_usd: null, ...limits };
    const created = await ask('POST', '/v1/clients', keys.admin, body);
    expect([created.status, created.body]).toMatchObject([201, limits]);
    return String(created.body.key);
  };
  const errors = [
    { pointer: '/airtimes/0/valueInUSD', detail: expect.stringContaining('must be at least 3 for one item') },
  ];

  it('is set, changed, read and removed through the API', async () => {
    const key = await create('api', { min_item_usd: '2' });
    expect((await change('api', { min_item_usd: 2.25 })).body).toMatchObject({ min_item_usd: '2.25' });
    expect((await ask('GET', '/v1/clients/api', keys.admin)).body).toMatchObject({ min_item_usd: '2.25' });
    expect((await ask('GET', '/v1/limits', key)).body).toMatchObject({ min_item_usd: '2.25' });
    const refused = await change('api', { min_item_usd: 0 });
    expect([refused.status, refused.body.errors]).toMatchObject([400, [{ pointer: '/min_item_usd' }]]);
    expect((await change('api', { min_item_usd: null })).body).toMatchObject({ min_item_usd: null });
  });

  it('refuses payments and their previews', async () => {
    const key = await create('paying', { min_item_usd: '3' });
    expect(await pay(key)).toMatchObject({ status: 403, body: { code: 'cap_exceeded', errors } });
    const { body } = await pay(key, '/v1/preview');
    expect(body).toMatchObject({ would: 'be_refused', refusal: { code: 'cap_exceeded', errors } });
    expect(upstream.received.filter(({ method }) => method === 'POST')).toEqual([]);
    await change('paying', { min_item_usd: '2.5' });
    expect((await pay(key)).status).toBe(200);
  });

  it('refuses the approval of a call held earlier', async () => {
    const key = await create('held', { approval_over_usd: '0' });
    const held = await pay(key);
    expect(held.status).toBe(202);
    const approve = () =>
      ask('POST', `/v1/approvals/${held.call}/approve`, keys.approve, { reason: 'agreed with the shop' });
    await change('held', { min_item_usd: '3' });
    expect(await approve()).toMatchObject({ status: 409, body: { code: 'no_longer_allowed', errors } });
    await change('held', { min_item_usd: null });
    expect(await approve()).toMatchObject({ status: 200, body: { outcome: 'succeeded' } });
  });

  it('requires a second person to lower it', () => {
    const grants = (min_item_usd: string | null) => ({ ...NO_GRANTS, ...fromPermissions({ min_item_usd }) });
    expect(expansions(grants('2'), grants('1.5'))).toEqual(['min_item_usd']);
    expect(expansions(grants('2'), grants(null))).toEqual(['min_item_usd']);
    expect(expansions(grants(null), grants('2'))).toEqual([]);
    expect(expansions(grants('1.5'), grants('2'))).toEqual([]);
  });

  it('is recorded with the state before and after', async () => {
    await create('recorded', { min_item_usd: '2' });
    await change('recorded', { min_item_usd: '4' });
    const { body } = await ask('GET', '/v1/activity?client=recorded', keys.audit);
    expect(body).toMatchObject({
      activity: [
        { action: 'limits_changed', before: { min_item_usd: '2' }, after: { min_item_usd: '4' } },
        { action: 'key_issued' },
        { action: 'client_created', after: { min_item_usd: '2' } },
      ],
    });
  });

  it('has a CLI option', async () => {
    const cli = cliOf(clientsCommands);
    const args = ['create', '--name', 'shop', '--scopes', 'pay', '--daily-cap', 'none', '--json'];
    await cli(...args, '--min-item', '2');
    const { stdout } = await cli('update', '--name', 'shop', '--min-item', '2.5', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ min_item_usd: '2.5' });
    expect((await cli('list')).stdout).toMatch(/shop .* smallest item 2\.5 /);
    await expect(cli('update', '--name', 'shop', '--min-item', '0')).rejects.toThrow(
      /^--min-item must be an amount of US dollars greater than 0, .*, or none\.$/,
    );
    const help = clientsCommands()
      .commands.find((command) => command.name() === 'create')
      ?.helpInformation();
    expect(help).toContain('--min-item <usd>');
    expect(help).toContain('smallest amount of one item in US dollars');
  });

  it('is in the OpenAPI documents of apps and of operators', async () => {
    const { apps, staff } = (await describeApi()) as unknown as Record<string, SchemaDocument>;
    const described = (document: SchemaDocument | undefined, schema: string) =>
      document?.components.schemas[schema]?.properties.min_item_usd?.description;
    expect(described(apps, 'LimitsDto')).toBe('Smallest amount of one item in US dollars.');
    for (const schema of ['ClientDto', 'NewClientDto', 'ActivityState'])
      expect(described(staff, schema)).toBe('Smallest amount of one item in US dollars.');
    for (const schema of ['CreateClientDto', 'ChangeClientDto'])
      expect(described(staff, schema)).toBe('Smallest amount of one item in US dollars, more than 0.');
  });

  it("is a field of the console's form, with its label", () => {
    expect(LIMITS).toContainEqual(expect.objectContaining({ name: 'min_item_usd', label: 'Smallest item' }));
    const edited = { ...EMPTY_FORM, min_item_usd: '2' };
    expect(changesOf(edited, EMPTY_FORM)).toEqual({ min_item_usd: '2' });
    expect(changesOf(EMPTY_FORM, edited)).toEqual({ min_item_usd: null });
    expect(changesInWords(edited, EMPTY_FORM)).toEqual(['Smallest item: $2.00, was no limit']);
  });

  it('matches the example of the guide line by line', () => {
    const guide = readFileSync('docs/internals/guides/add-a-rule-about-money.md', 'utf8');
    const examples = [...guide.matchAll(/```(?:ts|sql|prisma)\n([\s\S]*?)```/g)].map(
      ([, example = '']) => example,
    );
    const files = readdirSync(FOLDER).map((name) => inOneLine(readFileSync(`${FOLDER}/${name}`, 'utf8')));
    expect(examples).toHaveLength(4);
    for (const example of examples) expect(files).toContainEqual(expect.stringContaining(inOneLine(example)));
  });
});

interface SchemaDocument {
  components: { schemas: Record<string, { properties: Record<string, { description: string }> }> };
}

function inOneLine(source: string): string {
  return source.replace(/\s+/g, ' ').trim();
}

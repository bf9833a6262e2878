import { userInfo } from 'node:os';
import { stopCommands } from '../../src/cli/calls/stop';
import { TestDatabase } from '../support/databases/test-database';
import { FakeUpstream } from '../support/network/fake-upstream';
import { cliOf, createCommandDatabase } from '../support/processes/cli';
import { startProxy } from '../support/processes/proxy';

/** The commands of operators on a database. */
describe('the stop command', () => {
  const operator = { client: null, key_id: null, actor: userInfo().username };
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createCommandDatabase(); // with dual control, the proxy lifts stops
    await database.query(`INSERT INTO client (id, name, scopes) VALUES (gen_random_uuid(), 'shop', '{pay}')`);
  });
  afterAll(() => database.close());

  const cli = async (...args: string[]) => (await cliOf(stopCommands)(...args)).stdout;
  const json = async (...args: string[]) =>
    JSON.parse(await cli(...args, '--json')) as Record<string, unknown>;
  const listed = async (...args: string[]) =>
    ((await json('list', ...args)) as unknown as { id: string }[]).map(({ id }) => id);

  it('stops each target once, lists active stops, and lifts them', async () => {
    const ids: string[] = [];
    for (const target of [['everything'], ['client', 'shop'], ['operation', 'POST /payouts/airtime']]) {
      const stopped = await json(...target, '--reason', 'an incident');
      expect(stopped).toMatchObject({
        reason: 'an incident',
        stopped_by: operator,
        lifted_at: null,
        added: true,
      });
      const again = await json(...target, '--reason', 'another one');
      expect(again).toEqual({ ...stopped, added: false });
      ids.unshift(stopped.id as string);
    }
    expect(await listed()).toEqual(ids);
    expect(await json('lift', ids[1] ?? '')).toMatchObject({
      id: ids[1],
      client: 'shop',
      lifted_by: operator,
    });
    expect(await listed()).toEqual([ids[0], ids[2]]);
    expect(await listed('--all')).toEqual(ids);
    for (const id of await listed()) await cli('lift', id);
    expect(await cli('list')).toBe('(none)\n');
  });

  it('shows the target, reason and author of a stop, and repeated stops', async () => {
    const row = new RegExp(`client shop +a leak +\\S+Z +${operator.actor} +-\n$`);
    expect(await cli('client', 'shop', '--reason', 'a leak')).toMatch(row);
    const again = await cli('client', 'shop', '--reason', 'more');
    expect(again).toMatch(row);
    expect(again).toMatch(/^Already stopped\. Nothing was changed\.\n/);
    for (const id of await listed()) await cli('lift', id);
  });

  it.each([
    [['client', 'nobody', '--reason', 'why'], 'No client is named nobody'],
    [
      ['operation', 'GET /wallets/list', '--reason', 'why'],
      /cannot be stopped\. Give one of these: POST \/send, /,
    ],
    [['everything', '--reason', ' '], '--reason must be text'],
    [['lift', 'shop'], 'No active stop has the ID shop'],
    [['lift', '01a1fc4c-d86a-751d-baa6-e9463876b80c'], 'No active stop'],
  ])('rejects %j', async (args, message) => {
    await expect(cli(...args)).rejects.toThrow(message);
    expect(await listed()).toEqual([]);
  });

  it('takes effect at once on a running proxy', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    const { key } = await proxy.client('auditor', 'audit');
    const { id } = await json('everything', '--reason', 'an incident');
    const { body } = await proxy.get(key, '/v1/stops').expect(200);
    expect(body.stops).toMatchObject([{ id, everything: true, stopped_by: operator }]);
    await cli('lift', id as string);
    const { body: acts } = await proxy.get(key, `/v1/activity?via=cli&actor=${operator.actor}`).expect(200);
    expect(acts.activity.slice(0, 2)).toMatchObject([
      { id, action: 'stop_lifted', via: 'cli', by: { client: null, actor: operator.actor } },
      {
        id,
        action: 'stop_set',
        via: 'cli',
        by: { client: null, actor: operator.actor },
        reason: 'an incident',
      },
    ]);
    await proxy.close();
    await upstream.stop();
  });

  it.each(['everything', 'client', 'operation', undefined])('gives examples in stop %s --help', (name) => {
    const commands = stopCommands();
    const command = commands.commands.find((child) => child.name() === name) ?? commands;
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain('npm run cli -- stop operation "POST /payouts/airtime" --reason');
  });
});

import { feesCommands } from '../../src/cli/calls/fees';
import { TestDatabase } from '../support/databases/test-database';
import { FakeUpstream } from '../support/network/fake-upstream';
import { cliOf, createCommandDatabase } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';

const OPERATION = 'POST /payouts/airtime';

describe('the fees command', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    database = await createCommandDatabase();
    upstream = await FakeUpstream.start();
    const upstreamFees = new Map([['POST /payouts/credit', '1.5%+0.05 min 0.10']]);
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, upstreamFees }, database);
    process.env.PAYOUT_PROXY_KEY = (await proxy.client('admin', 'admin', 'audit')).key;
    for (const [account, usd] of [
      ['main', 0.05],
      ['kenya', 0.3],
    ]) {
      await database.query(
        `INSERT INTO call_fee (account, operation, size_usd, call_id, day, usd)
         SELECT $1, $2, 1, gen_random_uuid(), (now() AT TIME ZONE 'UTC')::date, $3
         FROM generate_series(1, 4)`,
        [account, OPERATION, usd],
      );
    }
  });
  afterAll(async () => {
    delete process.env.PAYOUT_PROXY_KEY;
    await proxy.close();
    await upstream.stop();
    await database.close();
  });

  const cli = async (...args: string[]) => (await cliOf(feesCommands)(...args)).stdout;
  const list = async () =>
    (JSON.parse(await cli('list', '--url', proxy.url, '--json')) as { fees: object[] }).fees;

  it('lists rules and learned fees, and forgets those of one account', async () => {
    const of = (account: string, usd: string) => ({ account, operation: OPERATION, fee_usd: usd, calls: 4 });
    const rule = { account: 'main', operation: 'POST /payouts/credit', rule: '1.5%+0.05 min 0.1' };
    expect(await list()).toMatchObject([of('kenya', '0.3'), of('main', '0.05'), rule]);
    expect(await cli('list', '--url', proxy.url)).toMatch(/kenya +POST \/payouts\/airtime +1 to 2 +0\.3 +4 /);
    const forgotten = await cli('forget', OPERATION, '--account', 'kenya', '--reason', 'Case 17', '--json');
    expect(JSON.parse(forgotten)).toMatchObject({ forgotten: [of('kenya', '0.3')] });
    expect(await list()).toMatchObject([of('main', '0.05'), rule]);
    expect(await cli('forget', OPERATION, '--url', proxy.url)).toContain('0.05');
    expect(await list()).toMatchObject([rule]);
    const key = process.env.PAYOUT_PROXY_KEY ?? '';
    const { body } = await proxy.get(key, '/v1/activity?action=fees_forgotten').expect(200);
    expect(body.activity).toMatchObject([
      { via: 'api', before: { account: 'main' } },
      { via: 'cli', reason: 'Case 17', before: { account: 'kenya', learned_fees: ['1-2: 0.3'] } },
    ]);
  });

  it('names fees that were not learned', async () => {
    await expect(cli('forget', 'POST /payouts/credit')).rejects.toThrow(
      'No fees of POST /payouts/credit and the account main were learned. Run fees list.',
    );
  });

  it.each([
    ['list', 'fees list --json'],
    ['forget', 'fees forget "POST /payouts/airtime" --account kenya'],
  ])('gives examples in fees %s --help', (name, example) => {
    let help = '';
    const command = feesCommands().commands.find((child) => child.name() === name);
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain(`npm run cli -- ${example}`);
  });
});

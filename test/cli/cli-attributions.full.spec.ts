import { callsCommands } from '../../src/cli/calls/calls';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { TestDatabase } from '../support/databases/test-database';
import { answer, FakeUpstream, reset } from '../support/network/fake-upstream';
import { AIRTIME, PHONE } from '../support/payments/paying';
import { cliOf, createCommandDatabase } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** A payout of 2.5 whose answer was lost. The upstream lists it with another amount. */
describe('the commands about transactions of the book', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let call: string;

  beforeAll(async () => {
    database = await createCommandDatabase();
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, resolverEverySeconds: 0 }, database);
    const { key } = await proxy.client('app', 'pay');
    process.env.PAYOUT_PROXY_KEY = (await proxy.client('approver', 'approve')).key;
    const one = { id: 'id-1', chiRef: 'ref-1', issueID: 'issue-1', issueDate: new Date().toISOString() };
    const data = [{ ...one, type: 'airtime', status: 'paid', phoneNumber: PHONE, valueInUSD: 4 }];
    upstream.behaviour = (request, response, socket) =>
      (request.url.endsWith('/account/transactions') ? answer(200, { status: 'success', data }) : reset)(
        request,
        response,
        socket,
      );
    const { headers } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(502);
    call = headers['x-call-id'] ?? '';
    const worker = await proxy.startWorker();
    await worker.get(ResolverService).runOnce();
  });
  afterAll(async () => {
    delete process.env.PAYOUT_PROXY_KEY;
    await proxy.close();
    await upstream.stop();
    await database.close();
  });

  const cli = async (...args: string[]) => (await cliOf(callsCommands)(...args, '--url', proxy.url)).stdout;
  const find = async (...args: string[]) =>
    (JSON.parse(await cli('transactions', ...args, '--json')) as { transactions: { id: string }[] })
      .transactions;

  it('find a transaction, attribute it, and name its payout', async () => {
    const [found] = await find();
    expect(found).toMatchObject({ upstream_ref: 'ref-1', amount_usd: '4', payout_id: null, ground: null });
    expect(await find('ref-1')).toEqual([found]);
    expect(await find('--call', call)).toEqual([]);
    const id = found?.id ?? '';
    const attribute = (...more: string[]) =>
      cli('attribute', `${call}.0`, '--transaction', id, '--reason', 'case 17', ...more);
    expect(await attribute()).toMatch(/confirmed +paid/);
    expect(await find('--call', call)).toMatchObject([{ id, payout_id: `${call}.0`, ground: 'person' }]);
    await expect(attribute('--supersedes', `${call}.0`)).rejects.toThrow('the payout has this one already');
    expect(await cli('transactions', 'ref-1')).toContain(`${call}.0`);
  });

  it.each([
    ['attribute', 'calls attribute 0193….0 --transaction 0193… --supersedes 0193….1 --reason "case 17"'],
    ['transactions', 'calls transactions --call 0193…'],
  ])('give examples in calls %s --help', (name, example) => {
    let help = '';
    const command = callsCommands().commands.find((child) => child.name() === name);
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain(`npm run cli -- ${example}`);
  });
});

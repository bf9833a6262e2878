import { INestApplicationContext } from '@nestjs/common';
import { insertSourceRead } from '../../../src/journal/reconciliation/reconciliations';
import { RunningConfig, loadConfig } from '../../../src/platform/config/config';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { BookService } from '../../../src/reconciliation/book/book.service';
import { RunReader } from '../../../src/reconciliation/runs/run-reader';
import { ScheduleService } from '../../../src/reconciliation/runs/runs.job';
import { RunsService } from '../../../src/reconciliation/runs/runs.service';
import { callOf } from '../../support/databases/old-calls';
import { first } from '../../support/examples/first';
import supertest from '../../support/http/supertest';
import { startProxyWithAccounts } from '../../support/payments/accounts';
import { airtime, eventually } from '../../support/payments/paying';
import { askForRun, reconcile, untilNow } from '../../support/reconciliation/reconciliation-scene';
import { HEADER, LINE, MAPPING } from '../../support/reconciliation/statement';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

type Account = 'main' | 'kenya';

/** Two accounts at one upstream. Each has a client that pays. */
describe('reconciliation of several accounts', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithAccounts<'kenya'>>>;
  let worker: INestApplicationContext;
  let asking: { url: string; key: string };
  const payers = {} as Record<Account, string>;

  beforeAll(async () => {
    proxy = await startProxyWithAccounts(['kenya'], {
      settings: { checkCoverage: false, followUpEverySeconds: 0 },
    });
    worker = await proxy.startWorker();
    for (const account of ['main', 'kenya'] as const) {
      payers[account] = (await proxy.clientOf(account, `payer-${account}`, 'pay', 'read')).key;
    }
    asking = { url: proxy.url, key: (await proxy.client('reconciler', 'reconcile')).key };
  });
  afterAll(() => proxy.close());

  const pay = async (account: Account, phone: string) => {
    const { headers } = await proxy.post(payers[account], '/payouts/airtime', airtime(phone)).expect(200);
    return String(headers['x-call-id']);
  };
  const run = (account: Account) => reconcile(asking, { ...untilNow(), account });
  const findings = async (query: string) =>
    (await proxy.get(asking.key, `/v1/reconciliation/findings?state=any&${query}`).expect(200)).body.findings;
  const itemOf = async (account: Account, call: string) =>
    (await proxy.get(payers[account], `/v1/payouts/${call}`).expect(200)).body;

  it('compares each account with the calls of its own clients', async () => {
    await pay('main', '+254712345671');
    await pay('kenya', '+254712345672');
    await pay('kenya', '+254712345671');
    const found = [await run('main'), await run('kenya')].map((one) => [
      one.account,
      one.result,
      one.totals?.matched.count,
    ]);
    expect(found).toEqual([
      ['main', 'clean', 1],
      ['kenya', 'clean', 2],
    ]);
  });

  it('finds an unknown transaction only in its account, which the finding names', async () => {
    await askSandbox(proxy.sandbox.url)
      .post('/api/v0.1/payouts/airtime')
      .set('X-API-Key', proxy.accounts.kenya.apiKey.reveal())
      .send(airtime('+254712345673'))
      .expect(200);
    const [kenya, main] = [await run('kenya'), await run('main')];
    expect([kenya.result, main.result]).toEqual(['findings', 'clean']);
    const [finding, ...more] = await findings('account=kenya');
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ account: 'kenya', category: 'missing_local', state: 'open' });
    expect(finding?.subject).toBe(`account/kenya/upstream_ref/${finding?.upstream_ref}`);
    expect(await findings('account=main')).toEqual([]);
    const { text } = await proxy.get(asking.key, '/v1/reconciliation/findings.csv?account=kenya').expect(200);
    expect(text.split('\r\n')[1]).toMatch(/,kenya,/);
    expect(
      (await proxy.get(asking.key, '/v1/reconciliation/findings.csv?account=main').expect(200)).text,
    ).not.toMatch(/kenya/);
    const report = await proxy.get(asking.key, `/v1/reconciliation/runs/${main.id}/report`).expect(200);
    expect(report.body).toMatchObject({ run: { account: 'main' }, finding_count: 0 });
    expect(report.body.ageing.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
  });

  it('lists runs by account, and shows the newest run of the account that waits longest', async () => {
    const list = async (query = '') =>
      (await proxy.get(asking.key, `/v1/reconciliation/runs?${query}`).expect(200)).body.runs;
    await run('main');
    expect(new Set((await list('account=kenya')).map(({ account }) => account))).toEqual(new Set(['kenya']));
    expect(first(await list()).account).toBe('main');
    const { body } = await proxy.get(asking.key, '/v1/overview').expect(200);
    expect(body.last_run?.account).toBe('kenya');
    const { text } = await supertest(proxy.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /reconciliation_last_end_timestamp_seconds\{result="findings",account="kenya"\} \d{10}/,
    );
    expect(text).toContain('reconciliation_open_findings{category="missing_local",account="kenya"} 1');
    expect(text).toContain('reconciliation_residual_usd{account="kenya"} 0');
  });

  it('rejects an unknown account, and names the known ones', async () => {
    const { body } = await askForRun(asking, { ...untilNow(), account: 'uganda' }).expect(400);
    const fault = { pointer: '/account', detail: 'must be an upstream account: main, kenya' };
    expect(body.errors).toEqual([fault]);
    expect((await hand({ account: 'uganda' }).expect(400)).body.errors).toEqual([fault]);
    await proxy.get(asking.key, '/v1/reconciliation/runs?account=Not%20a%20name').expect(400);
  });

  const hand = (more: { account?: string }) =>
    supertest(proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: JSON.stringify({ ...MAPPING, recipient: undefined }), ...more })
      .set({ 'X-API-Key': asking.key, 'Content-Type': 'text/csv' })
      .send([HEADER, LINE].join('\n'));

  it('compares a statement of an account with that account only, and imports it once for each', async () => {
    const main = (await hand({}).expect(201)).body;
    const kenya = (await hand({ account: 'kenya' }).expect(201)).body;
    expect([main.account, kenya.account]).toEqual(['main', 'kenya']);
    expect((await hand({ account: 'kenya' }).expect(200)).body.read_id).toBe(kenya.read_id);
    const { text } = await proxy.get(asking.key, '/metrics').expect(200);
    for (const [account, result] of [
      ['main', 'complete'],
      ['kenya', 'complete'],
      ['kenya', 'already_imported'],
    ]) {
      const labels = `account="${account}",source="statement",result="${result}"`;
      expect(text).toContain(`payout_proxy_source_read_duration_seconds_count{${labels}} 1`);
    }
    const question = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
    const refused = await askForRun(asking, { ...question, statement_id: kenya.read_id }).expect(400);
    const detail = 'must be a statement of the account main; this one is of kenya';
    expect(refused.body.errors).toEqual([{ pointer: '/statement_id', detail }]);
    for (const [account, { read_id: statement_id }] of Object.entries({ main, kenya })) {
      expect((await reconcile(asking, { ...question, account, statement_id })).result).toBe('findings');
    }
    const same = (
      await findings('category=missing_local&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z')
    ).map(({ account, subject }) => `${account} ${subject}`);
    expect(same.sort()).toEqual(['kenya account/kenya/upstream_ref/c-1', 'main upstream_ref/c-1']);
  });

  it('compares as_of with earlier readings of the account', async () => {
    const { from, to, as_of } = await run('kenya');
    const kenya = await reconcile(asking, { from, to, as_of, account: 'kenya' });
    expect(kenya).toMatchObject({ historical: true, result: 'findings' });
    const { body } = await askForRun(asking, { from, to, as_of, account: 'main' }).expect(422);
    expect(body.code).toBe('listing_missing'); // of main, which was not read for this period
  });

  it("settles no payout from another account's listing with the same reference", async () => {
    const call = await pay('main', '+254712345674');
    const { item } = await itemOf('main', call);
    const { upstream_ref: ref } = item.upstream ?? {};
    const book = worker.get(BookService, { strict: false });
    const prisma = worker.get(PrismaService, { strict: false });
    const listed = async (account: Account) => {
      const about = { source: 'changes', subject: null, from: null, to: null, mapping: null } as const;
      const readId = await insertSourceRead(prisma, { account, ...about, causedBy: null, by: null });
      await proxy.database.query(
        `INSERT INTO upstream_transaction (read_id, ordinal, upstream_ref, issued_at, status, amount_usd)
         VALUES ($1, 0, $2, now(), 'failed', 2.5)`,
        [readId, ref],
      );
      const reading = { account, readId, source: 'reconciliation', isQuiet: () => false } as const;
      const { known, settled } = await book.enter(reading, new AbortController().signal);
      return { known, settled: settled.size };
    };
    expect(await listed('kenya')).toMatchObject({ known: 0, settled: 0 });
    expect((await itemOf('main', call)).state).toBe('paid');
    expect(await listed('main')).toMatchObject({ known: 1, settled: 1 });
    expect((await itemOf('main', call)).state).toBe('failed');
  });

  it('starts one run per account at a scheduled time', async () => {
    await callOf(proxy.database, '2024-03-01T12:00:00Z');
    const reconciliation = { ...loadConfig({}).reconciliation, schedule: '0 2 * * *' };
    const settings = { reconciliation, namedAccounts: [proxy.accounts.kenya] };
    const schedule = new ScheduleService(
      settings as unknown as RunningConfig,
      proxy.app.get(PrismaService, { strict: false }),
      proxy.app.get(RunReader, { strict: false }),
      proxy.app.get(RunsService, { strict: false }),
    );
    const noon = new Date(Date.UTC(2024, 2, 2, 12));
    await Promise.all([schedule.checkAll(noon), schedule.checkAll(noon)]);
    const scheduled = async () =>
      (await proxy.get(asking.key, '/v1/reconciliation/runs').expect(200)).body.runs.filter(
        ({ due_at: at }) => at === '2024-03-02T02:00:00.000Z',
      );
    await eventually(async () => (await scheduled()).every(({ state }) => state === 'ended'));
    await schedule.checkAll(noon);
    expect((await scheduled()).map(({ account }) => account).sort()).toEqual(['kenya', 'main']);
  });
});

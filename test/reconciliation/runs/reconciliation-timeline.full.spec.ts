import { TransactionRecord } from '../../../src/sandbox/transactions/record';
import { TestDatabase } from '../../support/databases/test-database';
import type { RunRecord } from '../../support/http/api';
import { Behaviour, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import {
  ProxyAccess,
  reconcile,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';
import type { DataOf } from '../../support/sandbox/sandbox-answers';

// Fates of these recipients: src/sandbox/behaviour/magic-recipients.ts.
const REVERSED = '+254799990101';
const PAID_TWICE = '+254799990216';

describe('the reconciliation of a proxy and its upstream', () => {
  let scene: ReconciliationScene;
  let asking: ProxyAccess;
  let database: TestDatabase;
  /** A run before any difference. */
  let before: RunRecord;
  /** A transaction made with the upstream's key outside of the proxy. */
  let past: string;
  let calls: Record<'reversed' | 'charged', string>;
  /** Another instance, whose upstream lists selectively, and answers lookups by name completely. */
  let elsewhere: TestProxy;
  let upstream: FakeUpstream;

  beforeAll(async () => {
    scene = await startReconciling();
    upstream = await FakeUpstream.start();
    elsewhere = await startProxy({ upstreamBaseUrl: upstream.url }, scene.proxy.database);
    asking = { url: scene.proxy.url, key: scene.reconciler };
    database = scene.proxy.database;
    await scene.pay('+254712345601').expect(200);
    const reversed = await scene.pay(REVERSED).expect(200);
    before = await reconcile(asking, untilNow());
    const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345777', valueInUSD: 7.25 }];
    const direct = await scene.past('/payouts/airtime', { airtimes }).expect(200);
    past = /"chiRef":"([^"]+)"/.exec(direct.text)?.[1] ?? '';
    await scene.pay(PAID_TWICE).expect(200);
    await scene.behave({ feePercent: 2 });
    const charged = await scene.pay('+254712345602').expect(200);
    await scene.hurry();
    calls = { reversed: reversed.headers['x-call-id'] ?? '', charged: charged.headers['x-call-id'] ?? '' };
  });
  afterAll(async () => {
    await elsewhere.close();
    await upstream.stop();
    await scene.close();
  });

  /** Sets the listing of the other instance's upstream. */
  const lists = (shown: ListingEdits) => (upstream.behaviour = listing(scene.sandbox.url, shown));
  const seen = (runId: string) =>
    database.query(
      `SELECT category, subject, impact_usd::float8 AS usd, evidence #>> '{theirs,upstream_ref}' AS theirs
       FROM finding f JOIN finding_sight s ON s.finding_id = f.id WHERE s.run_id = $1 ORDER BY category`,
      [runId],
    );

  it('finds an unknown payment, a reversed one, a duplicate, and a fee', async () => {
    expect(before).toMatchObject({
      result: 'clean',
      totals: { matched: { count: 2 }, findings: { count: 0 } },
    });
    const run = await reconcile(asking, untilNow());
    expect(run.result).toBe('findings');
    expect(await seen(run.id)).toEqual([
      {
        category: 'duplicate_upstream',
        subject: expect.stringMatching(/^upstream_ref\//),
        usd: 2.5,
        theirs: expect.anything(),
      },
      { category: 'fee', subject: `call/${calls.charged}/0`, usd: 0.05, theirs: expect.anything() },
      { category: 'missing_local', subject: `upstream_ref/${past}`, usd: 7.25, theirs: past },
      { category: 'status', subject: `call/${calls.reversed}/0`, usd: -2.5, theirs: expect.anything() },
    ]);
    expect(run.totals).toMatchObject({
      ours: { count: 4, usd: '10' },
      theirs: { count: 6, usd: '17.3' }, // 10 + 7.25 + 2.5 + 0.05 − 2.5
      findings: { count: 4 },
      residual_usd: '0',
    });
    const { text } = await scene.proxy.get(asking.key, '/metrics').expect(200);
    expect(text).toContain(
      'payout_proxy_reconciliation_open_findings{category="missing_local",account="main"} 1',
    );
  });

  it('repeats its result with as_of without changes, and shows the current state otherwise', async () => {
    const { from, to, as_of: asOf, totals, read_id: readId } = before;
    const steps = () => database.query('SELECT * FROM finding_step');
    const stepsBefore = await steps();
    const then = await reconcile(asking, { from, to, as_of: asOf });
    expect(then).toMatchObject({ historical: true, result: 'clean', read_id: readId, totals });
    expect(await steps()).toEqual(stepsBefore);
    const now = await reconcile(asking, { from, to });
    expect(now).toMatchObject({ historical: false, result: 'clean' }); // the earlier run settled the reversal
    expect(await seen(now.id)).toEqual([]);
  });

  it('asks the upstream by name before it reports a payment as missing', async () => {
    await scene.worker.close();
    await elsewhere.startWorker(); // from now on
    const [lacking] = await database.query(
      `SELECT upstream_ref, upstream_id FROM outcome_item WHERE intent_id = '${calls.charged}'`,
    );
    lists({ transactions: (listed) => listed.filter((one) => one.chiRef !== lacking?.upstream_ref) });
    const question = { from: before.from, to: new Date().toISOString() };
    const run = await reconcile(asking, question);
    expect(run.totals!.matched).toMatchObject({ count: 4 });
    expect((await seen(run.id)).map(({ category }) => category as string)).not.toContain('missing_upstream');
    const asked = `SELECT subject FROM source_read WHERE caused_by = $1 AND source = 'transaction'`;
    expect(await database.query(asked, [run.id])).toEqual([{ subject: lacking?.upstream_id as string }]);
    const again = await reconcile(asking, { ...question, as_of: run.as_of });
    expect(again.totals).toEqual(run.totals);
    expect(await database.query(asked, [again.id])).toEqual([]); // nothing is requested for the past
  });

  it('is never clean over an empty or truncated listing, and closes nothing', async () => {
    const quiet = { from: new Date(Date.now() - 7_200_000).toISOString(), to: before.from };
    lists({ transactions: (listed) => listed });
    expect(await reconcile(asking, quiet)).toMatchObject({ result: 'clean' }); // the account is younger
    const steps = () => database.query('SELECT id FROM finding_step');
    const stepsBefore = await steps();
    const reasonsOf = ({ totals }: RunRecord) => totals?.incomplete.map(({ reason }) => reason);
    lists({ transactions: () => [] });
    const nothing = await reconcile(asking, quiet);
    expect([nothing.result, reasonsOf(nothing)]).toEqual(['incomplete', ['listing_empty']]);
    const whole = { from: before.from, to: new Date().toISOString() };
    expect((await reconcile(asking, whole)).result).toBe('findings');
    lists({
      transactions: (listed) => listed.toSorted(byTime).slice(-2),
      wallets: (listed) => listed.map((one) => ({ ...one, transactions: one.transactions.slice(0, 1) })),
    });
    const newest = await reconcile(asking, quiet);
    expect([newest.result, reasonsOf(newest)![0]]).toEqual(['incomplete', 'listing_shorter']);
    expect(await steps()).toEqual(stepsBefore);
  });

  it('counts a call without an outcome as in doubt, and reports the unexplained debit', async () => {
    const from = new Date().toISOString();
    await scene.fault({ fault: 'resetBeforeProcessing', operation: 'POST /payouts/airtime', nth: 1 });
    lists({ transactions: (listed) => listed });
    await scene.pay('+254712345603').expect(502);
    const doubtful = await reconcile(asking, { from, to: new Date().toISOString() });
    expect(doubtful).toMatchObject({
      result: 'clean_with_doubts',
      totals: { in_doubt: { count: 1, usd: '2.5' } },
    });
    const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345778', valueInUSD: 3.75 }];
    const direct = await scene.past('/payouts/airtime', { airtimes }).expect(200);
    const hidden = /"chiRef":"([^"]+)"/.exec(direct.text)?.[1];
    lists({ transactions: (listed) => listed.filter(({ chiRef }) => chiRef !== hidden) });
    const run = await reconcile(asking, { from, to: new Date().toISOString() });
    expect(run.result).toBe('findings');
    expect(await seen(run.id)).toMatchObject([{ category: 'unexplained_debit', usd: 0 }]);
  });
});

type Wallets = DataOf<'GET /wallets/list'>;

interface ListingEdits {
  transactions(listed: TransactionRecord[]): TransactionRecord[];
  wallets?(listed: Wallets): Wallets;
}

const byTime = (one: TransactionRecord, other: TransactionRecord) =>
  one.issueDate.localeCompare(other.issueDate);

/** Answers like the sandbox, with another listing. */
function listing(sandboxUrl: string, shown: ListingEdits): Behaviour {
  return async ({ method, url, headers, body }, response) => {
    const asked = {
      method,
      headers: { 'X-API-Key': String(headers['x-api-key']), 'Content-Type': 'application/json' },
    };
    const answer = await fetch(sandboxUrl + url, { ...asked, ...(method === 'POST' && { body }) });
    const said = (await answer.json()) as { data: unknown };
    if (url.endsWith('/account/transactions'))
      said.data = shown.transactions(said.data as TransactionRecord[]);
    if (url.endsWith('/wallets/list')) said.data = shown.wallets?.(said.data as Wallets) ?? said.data;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  };
}

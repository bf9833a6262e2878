import { FakeUpstream } from './support/fake-upstream';
import { startProxy, TestProxy } from './support/proxy';
import { Asking, reconcile, Reconciling, startReconciling, untilNow } from './support/reconciling';
import { TestDatabase } from './support/test-database';

// What happens to these: src/sandbox/magic-recipients.ts.
const REVERSED = '+254799990101';
const PAID_TWICE = '+254799990216';

describe('the reconciliation of a proxy and its upstream', () => {
  let scene: Reconciling;
  let asking: Asking;
  let database: TestDatabase;
  /** A run that saw nothing, before things changed. */
  let before: Record<string, any>;
  /** The transaction of somebody who has the upstream's key. */
  let past: string;
  let calls: Record<'reversed' | 'charged', string>;

  beforeAll(async () => {
    scene = await startReconciling();
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
  afterAll(() => scene.close());

  const seen = (runId: string) =>
    database.query(
      `SELECT category, subject, impact_usd::float8 AS usd, evidence #>> '{theirs,chi_ref}' AS theirs
       FROM finding f JOIN finding_sight s ON s.finding_id = f.id WHERE s.run_id = $1 ORDER BY category`,
      [runId],
    );

  it('finds a payment past the proxy, one that was reversed, one that was made twice, and a fee', async () => {
    expect(before).toMatchObject({ result: 'clean', totals: { matched: { count: 2 }, findings: { count: 0 } } });
    const run = await reconcile(asking, untilNow());
    expect(run.result).toBe('findings');
    expect(await seen(run.id as string)).toEqual([
      {
        category: 'duplicate_upstream',
        subject: expect.stringMatching(/^chi_ref\//),
        usd: 2.5,
        theirs: expect.anything(),
      },
      { category: 'fee', subject: `call/${calls.charged}/0`, usd: 0.05, theirs: expect.anything() },
      { category: 'missing_local', subject: `chi_ref/${past}`, usd: 7.25, theirs: past },
      { category: 'status', subject: `call/${calls.reversed}/0`, usd: -2.5, theirs: expect.anything() },
    ]);
    expect(run.totals).toMatchObject({
      ours: { count: 4, usd: '10' },
      theirs: { count: 6, usd: '17.3' }, // 10 + 7.25 + 2.5 + 0.05 − 2.5
      findings: { count: 4 },
      residual_usd: '0',
    });
    const { text } = await scene.proxy.get(asking.key, '/metrics').expect(200);
    expect(text).toContain('payout_proxy_reconciliation_open_findings{category="missing_local"} 1');
  });

  it('gives what it gave then, as of then, and changes nothing by it; as of now it gives what holds now', async () => {
    const { from, to, as_of: asOf, totals, read_id: readId } = before;
    const steps = () => database.query('SELECT * FROM finding_step');
    const stepsBefore = await steps();
    const then = await reconcile(asking, { from, to, as_of: asOf });
    expect(then).toMatchObject({ historical: true, result: 'clean', read_id: readId, totals });
    expect(await steps()).toEqual(stepsBefore);
    const now = await reconcile(asking, { from, to });
    expect(now).toMatchObject({ historical: false, result: 'findings' });
    expect((await seen(now.id as string)).map(({ category }) => category as string)).toEqual(['status']);
  });

  it('asks the upstream by name for what its listing lacks, before it says that it is missing', async () => {
    const [lacking] = await database.query(
      `SELECT chi_ref, upstream_id FROM outcome_item WHERE intent_id = '${calls.charged}'`,
    );
    const forgetful = await forgetting(scene, lacking?.chi_ref as string);
    const question = { from: before.from as string, to: new Date().toISOString() };
    const run = await reconcile({ ...asking, url: forgetful.url }, question);
    expect(run.totals.matched).toMatchObject({ count: 4 });
    expect((await seen(run.id as string)).map(({ category }) => category as string)).not.toContain('missing_upstream');
    const asked = `SELECT subject FROM source_read WHERE caused_by = $1 AND source = 'transaction'`;
    expect(await database.query(asked, [run.id])).toEqual([{ subject: lacking?.upstream_id as string }]);
    const again = await reconcile(asking, { ...question, as_of: run.as_of as string });
    expect(again.totals).toEqual(run.totals);
    expect(await database.query(asked, [again.id])).toEqual([]); // nobody asks now how it was then
    await forgetful.close();
  });
});

/** Another instance, whose upstream leaves a transaction out of its listing, and has it when asked for it. */
async function forgetting({ sandbox, proxy }: Reconciling, chiRef: string): Promise<TestProxy> {
  const upstream = await FakeUpstream.start();
  upstream.behaviour = async ({ method, url, headers, body }, response) => {
    const asked = {
      method,
      headers: { 'X-API-Key': String(headers['x-api-key']), 'Content-Type': 'application/json' },
    };
    const answer = await fetch(sandbox.url + url, { ...asked, ...(method === 'POST' && { body }) });
    const said = (await answer.json()) as { data: { chiRef?: string }[] };
    if (url.endsWith('/account/transactions')) said.data = said.data.filter((one) => one.chiRef !== chiRef);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  };
  const instance = await startProxy({ upstreamBaseUrl: upstream.url }, proxy.database);
  return { ...instance, close: () => instance.close().then(() => upstream.stop()) };
}

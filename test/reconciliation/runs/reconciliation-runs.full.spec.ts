import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { TestDatabase } from '../../support/databases/test-database';
import type { RunPage } from '../../support/http/api';
import supertest from '../../support/http/supertest';
import { holdRuns } from '../../support/payments/held-runs';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import {
  ProxyAccess,
  askForRun,
  ended,
  readRun,
  reconcile,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';

const HOUR_MS = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const HOUR_AGO = ago(1);

describe('the runs of the reconciliation', () => {
  let scene: ReconciliationScene;
  let here: ProxyAccess;
  /** Another instance on the same database. */
  let other: TestProxy;
  let there: ProxyAccess;

  beforeAll(async () => {
    scene = await startReconciling();
    other = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, scene.proxy.database);
    here = { url: scene.proxy.url, key: scene.reconciler };
    there = { ...here, url: other.url };
    await scene.pay('+254712345601').expect(200);
  });
  afterAll(async () => {
    await other.close();
    await scene.close();
  });
  afterEach(() => jest.restoreAllMocks());

  const list = async (query: string) => {
    const path = `${here.url}/v1/reconciliation/runs?${query}`;
    return (await supertest(path).get('').set('X-API-Key', here.key).expect(200)).body as RunPage;
  };
  /** Ends the connections of comparisons, like dead processes. */
  const cut = () =>
    scene.proxy.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'payout-proxy reconciliation'`,
    );

  it('start at once, continue by themselves, and end with a result', async () => {
    const question = untilNow();
    const begun = await askForRun(here, question).expect(202);
    const { id } = begun.body as { id: string };
    expect(begun.headers).toMatchObject({ location: `/v1/reconciliation/runs/${id}`, 'retry-after': '2' });
    expect(begun.body).toMatchObject({
      ...question,
      state: 'queued',
      historical: false,
      statement_id: null,
      result: null,
    });
    expect(begun.body.started_by).toMatchObject({ client: 'reconciler', actor: null });
    expect(begun.body.settings).toMatchObject({ amount_tolerance_usd: '0', time_tolerance_seconds: 900 });
    const run = await ended(there, id);
    expect(run).toMatchObject({ state: 'ended', result: 'clean', failure: null, progress: null });
    expect(run.totals).toMatchObject({ matched: { count: 1 }, residual_usd: '0' });
    expect(run.as_of).toBe(run.started_at);
    expect(await list('result=clean')).toMatchObject({ runs: [{ id }], next_page_token: null });
    expect((await list('result=failed')).runs).toEqual([]);
  });

  it('are listed in pages, newest first', async () => {
    for (const hours of [2, 3]) await reconcile(here, { from: ago(hours + 1), to: ago(hours) });
    const first = await list('page_size=2');
    const rest = await list(`page_size=2&page_token=${first.next_page_token}`);
    const ids = [...first.runs, ...rest.runs].map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids.length).toBe(3);
  });

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['/from', '/to']],
    ['times without a zone', { from: '2026-01-01T00:00:00', to: '2026-01-02' }, ['/from', '/to']],
    ['an empty period', { from: HOUR_AGO, to: HOUR_AGO }, ['/to']],
    ['a period that ends before it begins', { from: ago(1), to: ago(2) }, ['/to']],
    ['more than 400 days', { from: ago(401 * 24), to: ago(0) }, ['/to']],
    ['the future', { from: ago(1), to: ago(-0.1) }, ['/to']],
    ['as_of in the future', { from: ago(2), to: ago(1), as_of: ago(-1) }, ['/as_of']],
    ['as_of within the period', { from: ago(2), to: ago(1), as_of: ago(1.5) }, ['/as_of']],
    ['an invalid statement ID', { from: ago(2), to: ago(1), statement_id: 'mine' }, ['/statement_id']],
    [
      'an unknown statement',
      { from: ago(2), to: ago(1), statement_id: '01a1fc4c-d86a-751d-baa6-e9463876b80c' },
      ['/statement_id'],
    ],
    ['an unknown field', { from: ago(2), to: ago(1), until: ago(1) }, ['/until']],
  ])('are rejected for %s', async (_what, question, pointers) => {
    const { body } = await askForRun(here, question).expect(400);
    const found = (body.errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect([body.code, [...new Set(found)].sort()]).toEqual(['invalid_request', pointers]);
  });

  it('require the scope reconcile', async () => {
    const { id } = (await list('page_size=1')).runs[0]!;
    const { key } = await scene.proxy.client('others', 'audit', 'audit:pii', 'admin', 'approve', 'pay');
    await askForRun({ ...here, key }, untilNow()).expect(403);
    for (const path of ['', `/${id}`])
      await scene.proxy.get(key, `/v1/reconciliation/runs${path}`).expect(403);
    for (const name of ['01a1fc4c-d86a-751d-baa6-e9463876b80c', 'x']) {
      const { body } = await scene.proxy.get(here.key, `/v1/reconciliation/runs/${name}`).expect(404);
      expect(body.code).toBe('run_not_found');
    }
  });

  it('run once at a time for a period, across all instances', async () => {
    const letGo = holdRuns();
    const question = untilNow();
    const answers = await Promise.all(
      [here, there, here, there].map((asking) => askForRun(asking, question).redirects(0)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 202]);
    const [id = '', ...others] = [...new Set(answers.map(({ body }) => body.id as string))];
    expect(others).toEqual([]);
    // no listing is that old
    const { body } = await askForRun(there, { ...question, as_of: question.to }).expect(422);
    expect(body.code).toBe('listing_missing');
    letGo();
    await ended(here, id);
    const rows = await scene.proxy.database.query('SELECT FROM reconciliation_run WHERE from_at = $1', [
      question.from,
    ]);
    expect(rows.length).toBe(1);
  });

  it('run one after another if they compare other sources over the same period', async () => {
    const question = untilNow();
    const before = await reconcile(here, question);
    const letGo = holdRuns();
    const { id } = (await askForRun(here, question).expect(202)).body as { id: string };
    const { body, headers } = await askForRun(there, { ...question, as_of: before.as_of }).expect(409);
    expect([body.code, body.detail.includes(id), headers['retry-after']]).toEqual([
      'run_in_progress',
      true,
      '10',
    ]);
    letGo();
    await ended(here, id);
    expect(await reconcile(there, { ...question, as_of: before.as_of })).toMatchObject({ historical: true });
  });

  it('are limited to two over all instances, and a third gets 503', async () => {
    const letGo = holdRuns();
    const [first, second, third] = [4, 5, 6].map((hours) => ({ from: ago(hours + 1), to: ago(hours) }));
    const ids: string[] = [];
    for (const question of [first, second])
      ids.push((await askForRun(here, question ?? {}).expect(202)).body.id);
    for (const asking of [here, there]) {
      const { body, headers } = await askForRun(asking, third ?? {}).expect(503);
      expect([body.code, headers['retry-after']]).toEqual(['too_many_runs', '30']);
    }
    letGo();
    await Promise.all(ids.map((id) => ended(here, id)));
  });

  it('continue by themselves when their connection is lost', async () => {
    const question = untilNow();
    const letGo = holdRuns();
    const { id, as_of: asOf } = (await askForRun(here, question).expect(202)).body;
    await eventually(async () => (await readRun(there, id)).state === 'running');
    expect((await cut()).length).toBe(1);
    const again = await askForRun(there, question).expect(200); // queued or running again
    expect(again.body).toMatchObject({ id, as_of: asOf, result: null, ended_at: null });
    letGo();
    expect(await ended(here, id)).toMatchObject({ id, as_of: asOf, result: 'clean' });
    expect((await reconcile(here, question)).id).not.toBe(id); // an ended run is not restarted
  });

  it('do not delay the end of a worker, and continue on another', async () => {
    holdRuns();
    const lone = await startReconciling();
    const asking = { url: lone.proxy.url, key: lone.reconciler };
    await lone.pay('+254712345601').expect(200);
    const { id } = (await askForRun(asking, untilNow()).expect(202)).body;
    await eventually(async () => (await readRun(asking, id)).state === 'running');
    await lone.worker.close();
    expect(await readRun(asking, id)).toMatchObject({ state: 'queued' });
    jest.restoreAllMocks();
    await lone.proxy.startWorker();
    expect(await ended(asking, id)).toMatchObject({ id, result: 'clean' });
    await lone.close();
  });

  it('expire after a day without a worker', async () => {
    const query: TestDatabase['query'] = (sql, values) => scene.proxy.database.query(sql, values);
    const id = '01a1fc4c-d86a-751d-baa6-e9463876b80d';
    const question = { from: ago(30), to: ago(29) };
    await query(
      `INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, settings, started_at)
       SELECT $1, $2, $3, now(), FALSE, settings, now() - interval '25 hours'
       FROM reconciliation_run LIMIT 1`,
      [id, question.from, question.to],
    );
    expect(await readRun(here, id)).toMatchObject({ state: 'interrupted', result: null });
    expect((await reconcile(here, question)).id).not.toBe(id);
    expect(await readRun(here, id)).toMatchObject({ state: 'interrupted' });
  });

  it('fail on an incomplete listing of the upstream, report it, and restart on request', async () => {
    for (const nth of [1, 2, 3])
      await scene.fault({ fault: 'error500', operation: 'POST /account/transactions', nth });
    const question = untilNow();
    const failed = await reconcile(here, question);
    expect(failed).toMatchObject({ state: 'ended', result: 'failed', totals: null });
    expect(failed.failure).toMatch(
      /^The upstream's transactions could not be read completely \(\w+\), so nothing was compared\. /,
    );
    expect(await reconcile(here, question)).toMatchObject({ result: 'clean' });
    expect((await list('result=failed')).runs).toMatchObject([{ id: failed.id }]);
  });

  it('need an earlier listing for as_of', async () => {
    const question = { from: ago(50), to: ago(49), as_of: ago(48) };
    const never = await askForRun(here, question).expect(422);
    expect(never.body.code).toBe('listing_missing');
    expect(never.body.detail).toMatch(/has been read/);
    const { as_of: asOf } = await reconcile(here, { from: question.from, to: question.to });
    const tooOld = await askForRun(here, question).expect(422);
    expect(tooOld.body.detail).toContain(`The earliest was read at ${asOf}`);
    expect(await reconcile(here, { ...question, as_of: asOf })).toMatchObject({
      historical: true,
      result: 'clean',
    });
  });

  it('appear in the metrics of the worker, and their state in those of each proxy', async () => {
    const { body } = await scene.worker.get(MetricsService, { strict: false }).text();
    expect(body).toMatch(
      /payout_proxy_reconciliation_run_duration_seconds_count\{result="clean",account="main"\} \d/,
    );
    const { text } = await supertest(here.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /payout_proxy_reconciliation_last_end_timestamp_seconds\{result="failed",account="main"\} \d{10}/,
    );
    expect(text).toMatch(/payout_proxy_reconciliation_residual_usd\{account="main"\} 0\n/);
  });
});

import { parse } from 'csv-parse/sync';
import { BrowserContext, Page } from 'playwright-core';
import { startBrowser, TestBrowser } from '../../support/console/browser';
import type { RunRecord } from '../../support/http/api';
import supertest from '../../support/http/supertest';
import { FindingsScene } from '../../support/reconciliation/findings-scene';
import {
  ProxyAccess,
  reconcile,
  ReconciliationScene,
  startReconciling,
} from '../../support/reconciliation/reconciliation-scene';
import { runWithAllCategories, totalsOf } from '../../support/reconciliation/report-scene';

const HOUR_MS = 3_600_000;

describe('the report of a run', () => {
  let scene: ReconciliationScene;
  let findings: FindingsScene;
  let access: ProxyAccess;
  let browser: TestBrowser;
  let context: BrowserContext;
  /** A run that found a payment outside of the proxy. */
  let leak: RunRecord;

  beforeAll(async () => {
    [scene, browser] = await Promise.all([startReconciling(), startBrowser()]);
    findings = new FindingsScene(scene.proxy.database);
    access = { url: scene.proxy.url, key: scene.reconciler };
    await scene.pay('+254712345601').expect(200);
    const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345699', valueInUSD: 2 }];
    await scene.past('/payouts/airtime', { airtimes }).expect(200);
    const now = Date.now();
    const [from, to] = [now - HOUR_MS, now].map((at) => new Date(at).toISOString());
    leak = await reconcile(access, { from, to });
    context = await browser.browser.newContext({ extraHTTPHeaders: { 'X-API-Key': access.key } });
  });
  afterAll(async () => {
    await browser.close();
    await scene.close();
  });

  const get = (run: string, query = '') =>
    supertest(access.url).get(`/v1/reconciliation/runs/${run}/report?${query}`).set('X-API-Key', access.key);

  it('contains everything as JSON, and its reader is recorded', async () => {
    const got = await get(leak.id).expect(200);
    expect(got.body).toMatchObject({
      run: { id: leak.id, result: 'findings', settings: { time_tolerance_seconds: 900 } },
      source: { source: 'transactions', rows: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      equation: {
        difference_usd: leak.totals!.findings.by_category.missing_local!.usd,
        residual_usd: expect.stringMatching(/^0(\.0+)?$/),
      },
      payouts: {
        asked_usd: '2.5', // without the payment outside of the proxy
        paid_usd: '2.5',
        pending_usd: '0',
        returned_usd: '0',
        not_executed_usd: '0',
        fees_usd: '0',
      },
      states: { open: 1 },
      finding_count: 1,
      ageing: [{ days: '0_to_1', count: 1, usd: '2' }, { count: 0 }, { count: 0 }, { count: 0 }],
      findings: [
        {
          category: 'missing_local',
          severity: 'critical',
          impact_usd: '2',
          call_id: null,
          state: 'open',
          found_by: leak.id,
          evidence: { theirs: expect.anything() },
          meaning: expect.any(String),
        },
      ],
    });
    const sums = (await get(leak.id, 'findings=none').expect(200)).body;
    const { equation } = got.body;
    expect(sums).toMatchObject({ equation, states: { open: 1 }, findings: [], finding_count: 1 });
    expect(got.text).not.toContain('+254712345699');
    const id = got.headers['x-call-id'];
    const [reading] = await scene.proxy.database.query('SELECT * FROM access WHERE id = $1', [id]);
    expect(reading).toMatchObject({
      rows: 1,
      route: 'GET /v1/reconciliation/runs/:id/report',
      filters: { run_id: leak.id },
    });
  });

  it('has one row per finding as CSV, and accepts it with decisions', async () => {
    const { text, headers } = await get(leak.id, 'format=csv').expect(200);
    expect(headers['content-disposition']).toMatch(
      /^attachment; filename="reconciliation-\d{4}-\d\d-\d\d-.*\.csv"$/,
    );
    const [row] = parse<Record<string, string>>(text, { columns: true, bom: true });
    expect(row).toMatchObject({ category: 'missing_local', impact_usd: '2', state: 'open' });
    const id = row?.finding_id ?? '';
    await supertest(access.url)
      .post('/v1/reconciliation/findings/decisions.csv')
      .set({ 'X-API-Key': access.key, 'Content-Type': 'text/csv' })
      .send(text.replace(`${id},,`, `${id},explained,a test of ours`))
      .expect(200);
    const after = await get(leak.id).expect(200);
    const last_step = { reason: 'a test of ours' };
    expect(after.body.findings[0]).toMatchObject({ state: 'explained', last_step });
  });

  it('shows findings as of the run, despite later runs', async () => {
    const run = await findings.run({ totals: totalsOf([{ category: 'fee', usd: '1' }]) });
    const id = await findings.finding(run, { category: 'fee', usd: '1' });
    await findings.observeAgain(id, await findings.run(), '7');
    const { body } = await get(run).expect(200);
    expect(body.findings[0]).toMatchObject({ impact_usd: '1', seen_by: run });
    const now = await supertest(access.url)
      .get(`/v1/reconciliation/findings/${id}`)
      .set('X-API-Key', access.key)
      .expect(200);
    expect(body.findings[0]?.version).toBe(now.body.version); // decisions apply to the current version
  });

  it('is complete for any number of findings', async () => {
    const many = Array.from({ length: 1_100 }, () => ({ category: 'late', usd: '0' }));
    const run = await findings.run({ totals: totalsOf(many) });
    const ids = await findings.findings(run, many);
    const { body } = await get(run).expect(200);
    expect(body.findings.map((finding) => finding.id)).toEqual([...ids].sort());
    expect(body.finding_count).toBe(1_100);
    const page = (await get(run, 'format=html').expect(200)).text;
    expect(page.match(/<tbody>/g)).toHaveLength(500 + 1); // including the sums of our payouts
    expect(page).toMatch(/600 more: see the CSV/);
  });

  it('is rejected for unknown runs, runs in progress, and other formats', async () => {
    await get('x').expect(404);
    await get('01a1fb98-53b1-7069-a17f-af1e8cacb634').expect(404);
    expect((await get(await findings.run({ result: null })).expect(409)).body.code).toBe('run_not_ended');
    await get(leak.id, 'format=pdf').expect(400);
    const app = `/v1/reconciliation/runs/${leak.id}/report`;
    await scene.proxy.get(scene.app, app).expect(403);
  });

  describe('as a page', () => {
    let page: Page;
    let complaints: string[];
    let requests: string[];

    beforeEach(async () => {
      page = await context.newPage();
      complaints = [];
      requests = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => requests.push(request.url()));
    });
    afterEach(async () => {
      expect(complaints).toEqual([]); // in particular, about its content security policy
      expect(requests).toHaveLength(1); // only the page itself
      await page.close();
    });
    const show = (run: string) =>
      page.goto(`${access.url}/v1/reconciliation/runs/${run}/report?format=html`, { waitUntil: 'load' });

    it('shows the findings next to our records', async () => {
      const answer = await show(leak.id);
      expect(answer?.headers()).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-.*frame-ancestors/,
        ),
      });
      expect(await page.locator('.result').innerText()).toMatch(
        /1 finding\. Start with the transactions that our records do not contain/,
      );
      expect(await page.locator('.equation .good').innerText()).toMatch(/Residual\s+0\.00\S*\s+zero/);
      expect(await page.locator('h3').innerText()).toMatch(/critical\s+Unknown transaction at the upstream/i);
      expect(await page.locator('tbody tr').count()).toBeGreaterThan(0);
      const painted = await page.evaluate('getComputedStyle(document.body).fontVariantNumeric');
      expect(painted).toContain('tabular-nums'); // the policy admitted its style
    });

    it('shows all sixteen categories and 400 days, on screens and paper', async () => {
      const run = await runWithAllCategories(findings, { days: 400, residual: '-0.05' });
      await show(run);
      expect(await page.locator('.category h3').count()).toBe(16);
      expect(await page.locator('.alarm').innerText()).toMatch(/do not add up: −0\.05\S* USD/);
      expect(await page.locator('svg[role=img] > title').allInnerTexts()).toHaveLength(3);
      expect(await page.locator('svg[role=img] > desc').count()).toBe(3);
      expect(await page.locator('table > caption').count()).toBe(16 + 1); // the sums of our payouts
      for (const [width, media] of [
        [1_200, 'screen'],
        [390, 'screen'],
        [688, 'print'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ media });
        expect([width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([width, width]);
        const torn = await page.evaluate(OUT_OF_PLACE);
        expect(torn).toEqual([]);
      }
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
      expect(pdf.match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(3);
    });

    it('states that nothing differs, or that there is no result', async () => {
      await show(await findings.run({ result: 'clean', totals: totalsOf([]) }));
      expect(await page.locator('main').innerText()).toMatch(/No differences\./);
      expect(await page.locator('.result').innerText()).toMatch(/Clean: no differences/);
      requests = [];
      await show(await findings.run({ result: 'clean_with_doubts', totals: totalsOf([]) }));
      expect(await page.locator('.result').innerText()).toMatch(
        /No differences, but 1 payment is in doubt\./,
      );
      requests = [];
      const incomplete = [{ reason: 'listing_empty' as const, detail: 'The listing names <nothing>.' }];
      await show(await findings.run({ result: 'incomplete', totals: { ...totalsOf([]), incomplete } }));
      expect(await page.locator('.result').innerText()).toMatch(
        /Incomplete: .*\. The listing names <nothing>\./,
      );
      requests = [];
      await show(await findings.run({ result: 'failed' }));
      expect(await page.locator('.result').innerText()).toMatch(/No result\. The upstream did not answer\./);
    });

    it('escapes text of the upstream', async () => {
      const evil = `"><script>alert(1)</script><style>*{display:none}</style>&'`;
      const run = await findings.run({ totals: totalsOf([{ category: 'status', usd: '0' }]) });
      const fields = [{ field: evil, ours: evil, theirs: evil }];
      await findings.finding(run, { category: 'status', usd: '0', upstreamRef: evil, fields });
      await show(run);
      expect(await page.locator('script').count()).toBe(0);
      expect(await page.locator('style').count()).toBe(1);
      const cell = page.locator('section:not([aria-labelledby=payouts]) td.side').first();
      expect(await cell.innerText()).toBe(evil);
    });
  });
});

/** Text overflowing its table cell, card or chart. Runs in the browser, without our types. */
const OUT_OF_PLACE = `
  [...document.querySelectorAll('td, th, .card, dd')]
    .filter((cell) => cell.scrollWidth > cell.clientWidth + 1)
    .concat([...document.querySelectorAll('svg.chart text')].filter((text) => {
      const [own, chart] = [text, text.closest('svg')].map((each) => each.getBoundingClientRect());
      return own.left < chart.left - 1 || own.right > chart.right + 1;
    })).map((each) => each.textContent)`;

import { readFileSync } from 'node:fs';
import { Page } from 'playwright-core';
import { expectAccessible } from '../support/console/accessible';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { complaintsOf, follow, signIn, startAfresh, widthOf } from '../support/console/console';
import type { FindingRecord } from '../support/http/api';
import supertest from '../support/http/supertest';
import { FindingsScene } from '../support/reconciliation/findings-scene';
import {
  ProxyAccess,
  ReconciliationScene,
  startReconciling,
} from '../support/reconciliation/reconciliation-scene';

const [FOREIGN, OWN] = [12, 3];

describe('reconciliation in the console', () => {
  let scene: ReconciliationScene;
  let browser: TestBrowser;
  let asking: ProxyAccess;
  let page: Page;

  beforeAll(async () => {
    [scene, browser] = await Promise.all([startReconciling(), startBrowser()]);
    asking = { url: scene.proxy.url, key: scene.reconciler };
    for (let n = 0; n < FOREIGN; n += 1) {
      const item = { countryToSend: 'Kenya', phoneNumber: `+2547123457${10 + n}`, valueInUSD: 2.25 };
      await scene.past('/payouts/airtime', { airtimes: [item] }).expect(200);
    }
    await scene.behave({ feePercent: 3 }); // the proxy does not expect the fee
    for (let n = 0; n < OWN; n += 1) await scene.pay(`+2547123456${10 + n}`).expect(200);
    page = await signIn(browser.browser, asking.url, asking.key, {
      at: '/reconciliation',
      acceptDownloads: true,
    });
  });
  afterAll(async () => {
    await browser.close();
    await scene.close();
  });

  const goTo = async (path: string, heading: string) => {
    await startAfresh(page, path);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
  const get = async <const Path extends string>(path: Path) =>
    (await supertest(asking.url).get(`/v1/reconciliation/${path}`).set('X-API-Key', asking.key).expect(200))
      .body;
  const found = async (query: string): Promise<FindingRecord[]> =>
    (await get(`findings?page_size=200&${query}`)).findings;
  const rows = () => page.getByRole('table', { name: 'Findings' }).locator('tbody tr');
  const expectRows = async (count: number) => {
    await rows()
      .nth(count - 1)
      .waitFor();
    expect(await rows().count()).toBe(count);
  };
  const upload = (name: string, text: string) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  const downloadBy = async (click: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), click()]);
    return readFileSync(await download.path(), 'utf8');
  };
  const decide = async (state: string, reason: string) => {
    await page.getByRole('button', { name: 'Decide', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: state }).check();
    await dialog.getByLabel('Reason').fill(reason);
    await dialog.getByRole('button', { name: `Mark as ${state}` }).click();
  };

  it('starts a run, follows its progress, and explains the difference to the last cent', async () => {
    const complaints = complaintsOf(page);
    await scene.fault({ fault: 'delay', operation: 'POST /account/transactions', nth: 1, ms: 1_500 });
    await page.getByText('No runs yet').waitFor();
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start a run' });
    await dialog.getByLabel('Period').click();
    await expectAccessible(page.getByRole('dialog').last()); // the calendar
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'This month' }).click();
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Progress of the run' }).waitFor();
    await page.getByText("Reading the upstream's transactions").waitFor();

    const equation = page.getByRole('table', { name: 'The difference, explained' });
    await equation.waitFor(); // without a reload, by the event of its end
    const terms = await equation.getByRole('row').allTextContents();
    expect(terms).toEqual([
      expect.stringMatching(/^Our total3 payments\$/),
      expect.stringMatching(/^fee3\+\$/),
      expect.stringMatching(/^missing local12\+\$27\.0+$/),
      expect.stringMatching(/^Within the tolerances\$0\.0+$/),
      expect.stringMatching(/^Residual.*zero, as expected\$0\.0+$/),
      expect.stringMatching(/^=Upstream's total15 transactions\$/),
    ]);
    const cents = terms.map((term) =>
      BigInt(/(-?)\$([\d.,]+)$/.exec(term)?.[2]?.replace(/[.,]/g, '') ?? '0'),
    );
    expect(cents.slice(0, -1).reduce((sum, each) => sum + each, 0n)).toBe(cents.at(-1));
    await page.getByRole('img', { name: 'Findings by category' }).waitFor();
    const ages = page.getByRole('table', { name: 'Findings by age' });
    await ages.getByRole('row', { name: /^0–1 15/ }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('downloads the report as HTML, and lists the result of the run', async () => {
    await page.getByRole('button', { name: 'Report' }).click();
    const report = await downloadBy(() => page.getByRole('menuitem', { name: 'HTML' }).click());
    expect(report).toContain('<h2 id="equation">');
    await goTo('/reconciliation', 'Reconciliation');
    const row = page.getByRole('table', { name: 'Runs' }).locator('tbody tr');
    await row.getByText('findings').waitFor();
    await row.getByLabel('zero, as required').waitFor();
    await expectAccessible(page);
  });

  it('decides all findings of a category on all pages at once, with a reason', async () => {
    await goTo('/reconciliation/findings?page_size=5', 'Findings');
    await expectRows(5);
    await page.getByLabel('Category').selectOption('missing_local');
    await page.waitForURL(/category=missing_local/);
    await page.getByLabel('Select all findings on this page').focus();
    await page.keyboard.press('Space');
    await page.getByText('5 selected').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL(/page_token/);
    await expectRows(5);
    await page.getByText('5 selected').waitFor(); // those of the page before
    await page.getByRole('button', { name: 'Select all on all pages' }).click();
    await page.getByText(`${FOREIGN} selected`).waitFor();
    await decide('explained', 'Sent by the treasury, ticket 4711');
    await page.getByText('12 findings are explained').waitFor();
    await goTo('/reconciliation/findings?category=missing_local', 'Findings');
    await page.getByText('No findings match').waitFor();
    const settled = await found('category=missing_local&state=explained');
    expect(settled).toHaveLength(FOREIGN);
    const step = { state: 'explained', reason: 'Sent by the treasury, ticket 4711', run_id: null };
    for (const { last_step } of settled) expect(last_step).toMatchObject(step);
  });

  it('decides nothing if a finding changed in the meantime, and marks it', async () => {
    await goTo('/reconciliation/findings?category=fee&state=any', 'Findings');
    await expectRows(OWN);
    const [first] = await found('category=fee');
    await page.getByLabel('Select all findings on this page').click();
    await supertest(asking.url)
      .post('/v1/reconciliation/findings/decisions')
      .set('X-API-Key', asking.key)
      .send({ decisions: [{ finding_id: first?.id, state: 'resolved', reason: 'By another person' }] })
      .expect(200);
    await decide('explained', 'The contract has changed');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The other 2 are still selected').waitFor();
    await rows().filter({ hasText: 'resolved' }).getByText('Not decided: the finding has changed').waitFor();
    await expectAccessible(page);
    expect((await found('category=fee')).map(({ state }) => state)).toEqual(['open', 'open']);
    await dialog.getByRole('button', { name: 'Mark as explained' }).click();
    await page.getByText('2 findings are explained').waitFor();
    expect(await found('category=fee')).toEqual([]);
    const states = (await found('category=fee&state=any')).map(({ state }) => state);
    expect(states.sort()).toEqual(['explained', 'explained', 'resolved']);
  });

  it('compares a finding field by field, and records its decision in its history', async () => {
    const [finding] = await found('category=missing_local&state=explained');
    await goTo(`/reconciliation/findings/${finding?.id}`, finding?.title as string);
    const fields = page.getByRole('region', { name: 'Fields' });
    await fields.getByRole('row', { name: /amount_usd none differs: 2\.25/ }).waitFor();
    await page.getByText("The upstream's key may have leaked").waitFor();
    await page.getByRole('link', { name: 'this run' }).first().waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByLabel('Reason').fill('The treasury does not know it');
    await page.getByRole('button', { name: 'Mark as reopened' }).click();
    const timeline = page.getByRole('region', { name: 'History', exact: true });
    await timeline.getByText('The treasury does not know it').waitFor();
    await timeline.getByText('Sent by the treasury, ticket 4711').waitFor();
    await decide('accepted', 'A loss');
    await page.getByRole('dialog').getByText('only a person can accept a difference').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await decide('resolved', 'Reversed by the provider');
    await timeline.getByText('Reversed by the provider').waitFor();
    await page.getByText('decided').waitFor();
    await expectAccessible(page);
    expect(await found('category=missing_local&state=resolved')).toMatchObject([
      { id: finding?.id, last_step: { reason: 'Reversed by the provider' } },
    ]);
  });

  it('exports findings as CSV, imports the decisions, and reports errors by row', async () => {
    const findings = new FindingsScene(scene.proxy.database);
    const run = await findings.run();
    await findings.findings(run, [{ daysAgo: 3 }, { daysAgo: 5 }, { daysAgo: 40 }]);
    await goTo('/reconciliation/findings', 'Findings');
    await page.getByLabel('Age', { exact: true }).selectOption('2_to_7');
    await page.waitForURL(/min_age_days=2&max_age_days=7/);
    await expectRows(2);
    await page.getByRole('button', { name: 'Spreadsheet' }).click();
    const csv = await downloadBy(() => page.getByRole('button', { name: 'Download CSV' }).click());
    await page.getByText('Downloaded: 2 rows').waitFor();
    await expectAccessible(page.getByRole('dialog'));
    const [heading, first = '', second, ...rest] = csv.trimEnd().split('\r\n');
    expect(rest).toEqual([]);
    const decideFirst = (decision: string) => {
      const filled = first.replace(',,,', `,${decision},Agreed with the provider,`);
      return upload('x.csv', [heading, filled, second].join('\r\n'));
    };
    await decideFirst('agreed');
    await page.getByText('row 2: decision must be one of').waitFor();
    await decideFirst('explained');
    await page.getByText('1 decided: 1 explained. 1 without a decision').waitFor();
    expect(await found(`run_id=${run}&state=explained`)).toMatchObject([
      { last_step: { reason: 'Agreed with the provider' } },
    ]);
    await page.keyboard.press('Escape');
    await expectRows(1);
  });

  it('imports a statement, and lists the lines that cannot be used', async () => {
    await goTo('/reconciliation/statements', 'Statements');
    await page.getByRole('button', { name: 'Import a statement' }).click();
    const text =
      'Reference ID,valueInUSD,issueDate,status\na-1,1.5,2026-11-21T10:00:00Z,paid\na-2,much,,paid\n';
    await upload('march.csv', text);
    await page.getByLabel('upstream ref').selectOption('Reference ID');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 of 2 rows can be used').waitFor();
    await page.getByRole('row', { name: '3 valueInUSD is not an amount' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('table', { name: 'Statements' }).getByText('march.csv').waitFor();
  });

  it('fits a phone', async () => {
    const run = (await get('runs')).runs.find(({ totals }) => totals !== null); // fake runs have no totals
    const [finding] = await found('state=any');
    await page.setViewportSize({ width: 360, height: 740 });
    const paths = [`/runs/${run!.id}`, '/findings?state=any', `/findings/${finding?.id}`, '/statements'];
    for (const path of ['', ...paths]) {
      await follow(page, `/reconciliation${path}`);
      await page.getByRole('table').first().waitFor();
      expect([path, await widthOf(page)]).toEqual([path, 360]);
    }
  });
});

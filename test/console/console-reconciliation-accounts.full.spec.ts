import { Page } from 'playwright-core';
import { expectAccessible } from '../support/console/accessible';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { signIn, startAfresh } from '../support/console/console';
import { startProxyWithAccounts } from '../support/payments/accounts';
import { airtime } from '../support/payments/paying';
import { askSandbox } from '../support/sandbox/sandbox-answers';

describe('reconciliation of several accounts in the console', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithAccounts<'kenya'>>>;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    [proxy, browser] = await Promise.all([startProxyWithAccounts(['kenya']), startBrowser()]);
    await proxy.startWorker();
    await askSandbox(proxy.sandbox.url)
      .post('/api/v0.1/payouts/airtime')
      .set('X-API-Key', proxy.accounts.kenya.apiKey.reveal())
      .send(airtime('+254712345673'))
      .expect(200);
    const { key } = await proxy.client('reconciler', 'reconcile');
    page = await signIn(browser.browser, proxy.url, key, { at: '/reconciliation' });
  });
  afterAll(async () => {
    await browser.close();
    await proxy.close();
  });

  it('starts a run for one account, and shows the account with its findings', async () => {
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start a run' });
    await dialog.getByRole('button', { name: 'This month' }).click();
    await dialog.getByLabel('Upstream account').selectOption('kenya');
    await expectAccessible(dialog);
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('table', { name: 'The difference, explained' }).waitFor();
    await page.getByText('Upstream account').waitFor();

    await startAfresh(page, '/reconciliation');
    const runs = page.getByRole('table', { name: 'Runs' }).locator('tbody tr');
    await runs.getByRole('cell', { name: 'kenya', exact: true }).waitFor();
    await page.getByLabel('Account', { exact: true }).selectOption('main');
    await page.getByText('No runs match').waitFor();

    await startAfresh(page, '/reconciliation/findings');
    const findings = page.getByRole('table', { name: 'Findings' });
    await findings.getByRole('cell', { name: 'kenya', exact: true }).waitFor();
    await page.getByLabel('Account', { exact: true }).selectOption('main');
    await page.getByText('No findings match').waitFor();
    await page.getByLabel('Account', { exact: true }).selectOption('kenya');
    await findings.locator('tbody').getByRole('link').first().click();
    await page.getByText('Upstream account').waitFor();
  });
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Page } from 'playwright-core';
import { SAMPLE_OPERATIONS } from '../../src/admin/sandbox-api/samples';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { timelineOf } from '../support/console/call-page';
import { complaintsOf, follow } from '../support/console/console';
import { eventually } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, Product } from '../support/processes/process';

const CALL_PAGE = /\/console\/calls\/[0-9a-f-]{36}$/;

/** The first two minutes with the product and its defaults, in a browser. */
describe('a newcomer', () => {
  const folder = newDataDir();
  const dataDir = join(folder, '.data');
  let product: Product;
  let url: string;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    const env = { DATA_DIR: '.data', PORT: '0', START_WORKER: 'true', RESOLVER_EVERY_SECONDS: '1' };
    product = new Product('main.js', [], env, folder);
    [browser, [, url = '']] = await Promise.all([
      startBrowser(),
      product.said(/console\s+(http\S+)\/console /),
    ]);
    page = await browser.browser.newPage({ reducedMotion: 'reduce' });
  });
  afterAll(async () => {
    await browser.close();
    await product.signal('SIGTERM');
    removeDataDir(dataDir);
    removeDataDir(folder);
  });

  const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
  const answer = () => page.getByRole('region', { name: 'Answer' });
  const wallet = () =>
    page.getByRole('table', { name: 'Wallets' }).getByRole('row', { name: /^Demo account airtime/ });

  it('pays, reads the record, breaks the upstream, and settles a payout in doubt', async () => {
    const complaints = complaintsOf(page);
    const loaded: string[] = [];
    page.on('request', (request) => void (request.isNavigationRequest() && loaded.push(request.url())));

    await page.goto(`${url}/console`);
    const command = (await page.locator('main code').textContent()) ?? '';
    expect(command).toBe(`grep -o 'pp_admin_[^"]*' ./.data/demo-keys.json`);
    const key = execFileSync('/bin/sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Sandbox' }).click();

    await wallet().getByText('$10,000.00').waitFor();
    await send();
    await answer().getByText('succeeded', { exact: true }).waitFor();
    await answer().getByText('1 paid').waitFor();
    await wallet().getByText('was $10,000.00').waitFor();
    await wallet().getByText('$9,998.50').waitFor();
    await answer().getByRole('link', { name: 'View history' }).click();
    await page.waitForURL(CALL_PAGE);
    await page.getByRole('heading', { level: 1, name: 'POST /payouts/airtime' }).waitFor();
    expect((await timelineOf(page)).map((step) => step.split('\n')[0]).slice(0, 5)).toEqual([
      'Received',
      'Intent recorded',
      'Sent to the upstream',
      'Answered with 200',
      'Outcome recorded',
    ]);
    await page.goBack();

    await page.getByRole('button', { name: 'Turn on resetAfterProcessing' }).click();
    await page.getByText('One fault is active.').waitFor();
    await page.getByLabel('Value in USD').fill('2.5'); // another amount, which identifies it in the listing
    await send();
    await answer().getByText('in doubt', { exact: true }).waitFor();
    await answer().getByText('It may or may not have been paid').waitFor();
    await page.getByText('triggered once').waitFor();
    await wallet().getByText('$9,996.00').waitFor(); // the payout in doubt was paid
    await answer().getByRole('link', { name: 'View history' }).click();
    await page.waitForURL(CALL_PAGE);
    const doubted = page.url().split('/').at(-1);
    await page.goBack();

    await page.getByRole('button', { name: 'Turn off resetAfterProcessing' }).click();
    await page.getByText('No faults are active.').waitFor();
    await send();
    await answer().getByText('succeeded', { exact: true }).waitFor();
    // The overview may be some seconds old, and the list shows what was true when it was opened.
    await eventually(async () => {
      const call = await page.request.get(`${url}/v1/audit/calls/${doubted}`);
      return (await call.text()).includes('"confirmed"');
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('All outcomes are known.').waitFor(); // from the upstream's listing
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByRole('table', { name: 'Calls' }).getByText('confirmed', { exact: true }).waitFor();
    expect(loaded).toEqual([`${url}/console`]); // without a reload
    expect(complaints).toEqual([]);
  });

  it('sends each kind of sample unchanged from the form', async () => {
    await follow(page, '/sandbox');
    const kinds = page.getByRole('combobox', { name: 'Sample' });
    await kinds.click();
    await page.getByRole('option').first().waitFor();
    const titles = await page.getByRole('option').allTextContents();
    expect(titles).toHaveLength(SAMPLE_OPERATIONS.length);
    await page.keyboard.press('Escape');
    for (const title of titles.reverse()) {
      await kinds.click();
      await page.getByRole('option', { name: title, exact: true }).click();
      await send();
      await answer().getByText('HTTP status 200').waitFor();
      expect(await answer().getByText('The upstream carried out the request.').count()).toBe(1);
    }
  });
});

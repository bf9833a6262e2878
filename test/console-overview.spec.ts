import { startBrowser, TestBrowser } from './support/browser';
import { complaintsOf, expectAccessible, signIn } from './support/console';
import { startProxyWithSandbox } from './support/proxy';

const airtime = (phoneNumber: string, valueInUSD: number) => ({
  airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }],
});

describe('the console’s overview', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let browser: TestBrowser;
  let app: string;
  let operator: string;

  beforeAll(async () => {
    [proxy, browser] = await Promise.all([startProxyWithSandbox(), startBrowser()]);
    app = (await proxy.client('shop', 'pay', 'read')).key;
    operator = (await proxy.client('operator', 'admin', 'audit', 'reconcile', 'approve')).key;
    await proxy.database.query("UPDATE client SET daily_cap_usd = 10, approval_over_usd = 5 WHERE name = 'shop'");
    await proxy.post(app, '/payouts/airtime', airtime('+254712345601', 1.1)).expect(200);
    await proxy.post(app, '/payouts/airtime', airtime('+254712345602', 6)).expect(202); // waits
    await proxy.post(app, '/payouts/airtime', { airtimes: [] }).expect(400);
  });
  afterAll(async () => {
    await browser.close();
    await proxy.close();
  });

  it('shows what was paid, what waits and what is left, and goes on by itself', async () => {
    const page = await signIn(browser.browser, proxy.url, operator);
    const complaints = complaintsOf(page);
    const tile = (title: string) => page.locator('p', { hasText: new RegExp(`^${title}$`) }).locator('..');
    await tile('Waiting for approval').getByText('$6.00').waitFor();
    await tile('Calls in doubt').getByText('Every outcome is known.').waitFor();
    await tile('Upstream').getByText('answering', { exact: true }).waitFor();
    const caps = page.getByRole('region', { name: 'Caps used by clients' });
    await caps.getByText('$1.10 of $10.00').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    const figures = page.getByRole('table', { name: 'Figures by day and operation' });
    await figures.getByRole('cell', { name: '$1.10' }).waitFor();

    await proxy.post(app, '/payouts/airtime', airtime('+254712345603', 2.2)).expect(200);
    await caps.getByText('$3.30 of $10.00').waitFor(); // nobody reloaded
    await figures.getByRole('cell', { name: '$3.30' }).waitFor(); // and 1.1 + 2.2 is not 3.3000000000000003
    await page.getByText('Chart', { exact: true }).click();
    await page.getByRole('img', { name: /Bars by day and operation/ }).waitFor();
    expect(complaints).toEqual([]);
    await expectAccessible(page);
  });

  it('leads to what it counts', async () => {
    const page = await signIn(browser.browser, proxy.url, operator);
    await page.getByRole('region', { name: 'Outcomes' }).getByRole('link', { name: 'refused' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    expect(page.url()).toBe(`${proxy.url}/console/calls?outcome=refused`);
    await page.goBack();
    await page.getByRole('link', { name: 'Waiting for approval' }).click();
    await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  });

  it('shows to each key its own part', async () => {
    const { key } = await proxy.client('reconciler', 'reconcile');
    const page = await signIn(browser.browser, proxy.url, key);
    await page.getByRole('region', { name: 'Open findings by age' }).waitFor();
    for (const other of ['Outcomes', 'Caps used by clients']) {
      expect(await page.getByRole('region', { name: other }).count()).toBe(0);
    }
  });

  it('keeps its period in the address', async () => {
    const page = await signIn(browser.browser, proxy.url, operator);
    await page.getByText('14 days').click();
    expect(page.url()).toBe(`${proxy.url}/console/?days=14`);
    await page.reload();
    await page.getByRole('radio', { name: '14 days', checked: true }).waitFor({ state: 'attached' });
  });

  it('fits a telephone', async () => {
    const page = await signIn(browser.browser, proxy.url, operator, { viewport: { width: 360, height: 740 } });
    await page.getByRole('img', { name: /Bars by day and operation/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await expectAccessible(page);
  });
});

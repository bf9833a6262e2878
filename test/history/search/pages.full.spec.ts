import { BrowserContext, Page } from 'playwright-core';
import { startBrowser, TestBrowser } from '../../support/console/browser';
import { first } from '../../support/examples/first';
import { dataOf, InterfaceClient } from '../../support/http/interface-client';
import { startProxyWithSandbox } from '../../support/processes/proxy';

/** Pages for recipients and payers in a real browser, with the links that apps get. */
describe('the redemption pages', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let browser: TestBrowser;
  let client: InterfaceClient;
  let profile: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [proxy, browser] = await Promise.all([startProxyWithSandbox(), startBrowser()]);
    profile = await browser.browser.newContext();
    client = new InterfaceClient(
      proxy.url,
      (await proxy.client('app', 'pay', 'write', 'read', 'account')).key,
    );
  });
  afterAll(async () => {
    await browser.close();
    await proxy.close();
  });
  beforeEach(async () => {
    page = await profile.newPage();
    complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    expect(complaints).toEqual([]); // Such as violations of the content security policy.
    await page.close();
  });

  const statusOf = async (id: string) =>
    dataOf('GET /account/transaction', await client.transaction(id)).status;
  const initiate = async (description?: string) => {
    const answer = await client.initiateCredit([{ email: 'ada@example.com', valueInUSD: 12.5 }], description);
    const { paymentLink, data } = dataOf('POST /payouts/initiate-credit', answer);
    return { paymentLink, transaction: first(data) };
  };
  const paid = async () => {
    const answer = await client.payOutCredit([{ email: 'ada@example.com', valueInUSD: 5 }]);
    const { id, redeemLink = '' } = first(dataOf('POST /payouts/credit', answer).data);
    return { id, redeemLink };
  };

  it('pay once with a click, and show the payment', async () => {
    const { paymentLink, transaction } = await initiate('Prizes <b>of</b> May & "June"');
    await page.goto(paymentLink);
    expect(await page.textContent('main')).toContain('Prizes <b>of</b> May & "June"');
    expect(await page.textContent('body')).not.toContain('ada@example.com');
    await page.getByRole('button', { name: /^Pay .*12\.50/ }).click();
    await page.getByText('Nothing is left to pay').first().waitFor();
    expect(await statusOf(transaction.id)).toBe('paid');
    expect(await page.getByRole('button').count()).toBe(0);
    await page.reload(); // Must not send the form again.
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('do not pay twice in two tabs', async () => {
    const { paymentLink, transaction } = await initiate();
    const other = await profile.newPage();
    await Promise.all([page.goto(paymentLink), other.goto(paymentLink)]);
    await Promise.all([page.getByRole('button').click(), other.getByRole('button').click()]);
    await page.getByText('Nothing is left to pay').first().waitFor();
    await other.getByText('Nothing is left to pay').first().waitFor();
    expect(await statusOf(transaction.id)).toBe('paid');
    await other.close();
  });

  it.each([
    ['Airtime', { country: 'Kenya' }, { phoneNumber: '+254712345678' }],
    ['Mobile money', { network: 'Kenya: M-Pesa' }, { phoneNumber: '+254712345678' }],
    ['Gift card', { code: 1 }, {}],
    ['Crypto', { code: 1 }, { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }],
    ['Other assets', { code: 1 }, {}],
  ])('let a recipient choose %s, and show the choice afterwards', async (choice, selections, texts) => {
    const { redeemLink, id } = await paid();
    await page.goto(redeemLink);
    const form = page.locator('details', { has: page.getByText(choice, { exact: true }) });
    await form.locator('summary').click();
    for (const [name, option] of Object.entries<string | number>(selections)) {
      await form
        .locator(`[name=${name}]`)
        .selectOption(typeof option === 'number' ? { index: option } : option);
    }
    for (const [name, text] of Object.entries(texts)) await form.locator(`[name=${name}]`).fill(text);
    await form.getByRole('button').click();
    await page.getByText('This credit is redeemed').first().waitFor();
    expect(await page.textContent('main')).toContain('It became:');
    expect(await page.textContent('body')).not.toContain('+254712345678');
    expect(await statusOf(id)).toBe('redeemed');
    await page.goto(redeemLink);
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('explain an invalid form, and keep the credit', async () => {
    const { redeemLink, id } = await paid();
    await page.goto(redeemLink);
    const form = page.locator('details', { has: page.getByText('Airtime', { exact: true }) });
    await form.locator('summary').click();
    await form.locator('[name=country]').selectOption('Kenya');
    await form.locator('[name=phoneNumber]').fill('0712');
    complaints.length = 0;
    await form.getByRole('button').click();
    await page.getByText('international format').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]); // The browser logs the status.
    expect(await statusOf(id)).toBe('paid');
  });
});

import { Decimal } from 'decimal.js';
import { Page } from 'playwright-core';
import { expectAccessible } from '../support/console/accessible';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { signIn, startAfresh, widthOf } from '../support/console/console';
import { startSandboxApi, TestSandboxApi } from '../support/sandbox/sandbox-api';

const AIRTIME = 'POST /payouts/airtime';

/** The page Sandbox, which uses /v1/sandbox. */
describe("the console's sandbox", () => {
  let api: TestSandboxApi;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    [api, browser] = await Promise.all([startSandboxApi(), startBrowser()]);
    page = await signIn(browser.browser, api.proxy.url, api.keys.admin ?? '', { at: '/sandbox' });
  });
  beforeEach(async () => {
    await api.ask('delete', '/faults').expect(204);
    await api.ask('delete', '/lies').expect(200);
    await startAfresh(page, '/sandbox');
    await page.getByRole('heading', { name: 'Wallets' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await api.close();
  });

  const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
  const answer = () => page.getByRole('region', { name: 'Answer' });
  const item = (number: number) => page.getByRole('group', { name: `Airtimes: item ${number}` });
  const choose = async (field: string, option: string | RegExp) => {
    await page.getByRole('combobox', { name: field }).first().click();
    await page.getByRole('option', { name: option }).click();
  };

  it('opens from the address of the proxy', async () => {
    const answer = await fetch(api.proxy.url, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console']);
  });

  it('shows errors at their fields until the field changes', async () => {
    await item(1).getByLabel('Phone number').fill('0712');
    await page.getByRole('button', { name: 'Add an item' }).click();
    await item(2).getByLabel('Value in USD').fill('1,5');
    await send();
    await answer().getByText('refused', { exact: true }).waitFor();
    await item(1).getByText('international format').waitFor();
    await item(2).getByText('must be a number of US dollars').waitFor();
    expect(await item(1).getByText('must be a number').count()).toBe(0);
    await item(1).getByLabel('Phone number').fill('+254712345678');
    await item(1).getByText('international format').waitFor({ state: 'detached' });
    expect(await item(2).getByText('must be a number').count()).toBe(1);
    await item(2).getByRole('button', { name: 'Remove item 2' }).click();
    await item(1).getByLabel('Value in USD').fill('1.50');
    await send();
    await answer().getByText('1 paid').waitFor();
  });

  it('shows the first answer for a replay, and the refusal of another body with the same key', async () => {
    await page.getByRole('textbox', { name: 'Idempotency-Key' }).fill('sample-1');
    await send();
    await answer().getByText('succeeded', { exact: true }).waitFor();
    const timeline = answer().getByRole('link', { name: 'View history' });
    const first = await timeline.getAttribute('href');
    await answer().getByRole('button', { name: 'Send the same again' }).click();
    await answer().getByText('replayed', { exact: true }).waitFor();
    expect(await timeline.getAttribute('href')).toBe(first);
    await item(1).getByLabel('Value in USD').fill('9');
    await send();
    await answer().getByText('HTTP status 422').waitFor();
    await page.getByRole('textbox', { name: 'Idempotency-Key' }).fill('sample 1');
    await send();
    await page.getByText('must be an Idempotency-Key').waitFor();
  });

  it('fills in magic recipients, and shows the outcome of each item', async () => {
    await page.getByRole('button', { name: 'Add an item' }).click();
    await choose('Magic recipient', /^failed/);
    expect(await item(1).getByLabel('Phone number').inputValue()).toBe('+254799990104');
    await item(1).getByText('its item fails alone').waitFor();
    await send();
    await answer().getByText('1 failed, 1 paid').waitFor();
    await choose('Magic recipient', /^none/);
    expect(await item(1).getByLabel('Phone number').inputValue()).toBe('+254712345678');
  });

  it('accepts a body as JSON, reports invalid JSON, and turns it back into fields', async () => {
    await page.getByRole('switch', { name: 'As JSON' }).click();
    const body = page.getByLabel('Body', { exact: true });
    expect(JSON.parse(await body.inputValue())).toEqual((await api.sample(AIRTIME)).body);
    await body.fill('{"airtimes": [');
    await page.getByText('This is not valid JSON').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    const airtimes = [{ countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 2 }];
    await body.fill(JSON.stringify({ airtimes, colour: 'red' }));
    await send();
    await answer().getByText('/colour', { exact: true }).waitFor();
    await page.getByRole('switch', { name: 'As JSON' }).click();
    expect(await item(1).getByLabel('Country to send').inputValue()).toBe('Nigeria');
    await page.getByLabel('Colour').fill('');
    await send();
    await answer().getByText('1 paid').waitFor();
  });

  it('links to the approval of a held call', async () => {
    await api.clients.update('app', { approvalOverUsd: new Decimal(1) });
    await send();
    await answer().getByText('pending approval', { exact: true }).waitFor();
    await answer().getByRole('link', { name: 'Approve or reject' }).click();
    await page.waitForURL(/\/console\/approvals\/[0-9a-f-]{36}$/);
    await api.clients.update('app', { approvalOverUsd: null });
  });

  it('counts the seconds while the upstream does not answer, and explains the wait', async () => {
    await page.getByRole('button', { name: 'Turn on noResponse' }).click();
    await page.getByText('One fault is active.').waitFor();
    await send();
    await answer().getByRole('timer').waitFor();
    await answer().getByText('If a fault suppresses the response').waitFor();
    await answer().getByText('in doubt', { exact: true }).waitFor();
    await page.getByText('triggered once').waitFor();
  });

  it('turns faults on for the operation of the form or with settings, and off again', async () => {
    await choose('Sample', 'Pay out mobile money');
    const kind = page.getByRole('form', { name: 'lateProcessing' });
    await kind.getByRole('button', { name: 'More' }).click();
    await kind.getByLabel('nth').fill('3');
    await kind.getByLabel('ms').fill('50');
    await kind.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('One fault is active.').waitFor();
    await choose('Operation', 'any operation');
    await page.getByText("Faults also affect the proxy's own requests").waitFor();
    const other = page.getByRole('form', { name: 'error500', exact: true });
    await other.getByRole('button', { name: 'More' }).click();
    await other.getByLabel('Probability').fill('0.5');
    await other.getByLabel('Carry out the operation anyway').check();
    await other.getByLabel('Probability').press('Enter');
    await page.getByText('2 faults are active.').waitFor();
    expect((await api.look()).faults).toMatchObject([
      {
        fault: 'lateProcessing',
        operation: 'POST /payouts/mobile-money',
        nth: 3,
        settings: { ms: 50, status: 503 },
      },
      { fault: 'error500', operation: null, probability: 0.5, processed: true },
    ]);
    await kind.getByLabel('ms').fill('-1');
    await kind.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('alert').getByText('The request is invalid').waitFor();
    await page.getByRole('button', { name: 'Turn all off' }).click();
    await page.getByText('No faults are active.').waitFor();
    expect((await api.look()).faults).toEqual([]);
  });

  it('starts a lie of the sandbox, describes it, and ends it', async () => {
    const lies = page.getByRole('region', { name: 'Lies' });
    const form = (name: string) => lies.getByRole('form', { name });
    const open = (name: string) => lies.getByRole('button', { name: new RegExp(`^${name}`) }).click();
    await lies.getByText('The sandbox tells the truth.').waitFor();
    await open('Lists');
    await form('Lists').getByLabel('Newest only').fill('3');
    await form('Lists').getByLabel('Frozen as it is now').check();
    await form('Lists').getByRole('button', { name: 'Apply' }).click();
    await lies.getByText('the newest 3 transactions only').waitFor();
    await lies.getByText('transactions are frozen').waitFor();
    await open('Late listing');
    await form('Late listing').getByRole('button', { name: 'Apply' }).click();
    await lies.getByText('momo is listed after 60 s').waitFor();
    await open('Status words');
    await form('Status words').getByRole('button', { name: 'Apply' }).click();
    await lies.getByText('paid is “AWAITING_REVIEW” in lists').waitFor();
    await open('Fees');
    await form('Fees').getByLabel('Percent of each payout').fill('1.5');
    await form('Fees').getByLabel('Returned when a payout fails').uncheck();
    await form('Fees').getByRole('button', { name: 'Apply' }).click();
    await lies.getByText('fees of 1.5 %').waitFor();
    await expectAccessible(page);
    await lies.getByRole('button', { name: 'End all lies' }).click();
    await lies.getByText('The sandbox tells the truth.').waitFor();
    await open('Wallet entries');
    await form('Wallet entries').getByLabel('US dollars').fill('0.25');
    await form('Wallet entries').getByRole('button', { name: 'Book' }).click();
    await form('Wallet entries').getByText('Booked a fee of $0.25 in the airtime wallet.').waitFor();
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await item(1).getByLabel('Phone number').fill('0712');
    await send();
    await answer().getByText('refused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More about lateProcessing' }).click();
    await page.getByRole('button', { name: 'Turn on error500', exact: true }).click();
    await page.getByText('One fault is active.').waitFor();
    await page.getByRole('button', { name: /^Lists/ }).click();
    await expectAccessible(page);
    expect(await widthOf(page)).toBe(360);
  });
});

import { Decimal } from 'decimal.js';
import { Page } from 'playwright-core';
import { ClientsService } from '../../src/access/clients/clients.service';
import { PASSWORD, SECOND_FACTOR_ACR } from '../support/access/provider';
import { SignInScene, startSignInScene } from '../support/access/signing-in';
import { expectAccessible } from '../support/console/accessible';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { complaintsOf } from '../support/console/console';

/** A real browser, with a real provider on another site. */
describe('a person in the console', () => {
  let scene: SignInScene;
  let browser: TestBrowser;
  let url: string;

  beforeAll(async () => {
    const stepUp = { maxAgeSeconds: 600, acrValues: [SECOND_FACTOR_ACR], overUsd: '10' };
    scene = await startSignInScene({ stepUp }, { host: 'localhost' });
    url = scene.proxy.url;
    browser = await startBrowser();
    await scene.allow('bob', 'approvers', 'approve');
    await scene.allow('dora', 'others', 'approve');
    await scene.allow('alice', 'ops', 'admin');
  });
  afterAll(async () => {
    await browser.close();
    await scene.close();
  });

  async function held(usd: number): Promise<string> {
    const name = `shop-${usd}`;
    const { key } = await scene.proxy.client(name, 'pay', 'read');
    const limits = { approvalOverUsd: new Decimal(1) };
    await scene.proxy.app.get(ClientsService, { strict: false }).update(name, limits);
    const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: usd }] };
    return (await scene.proxy.post(key, '/payouts/airtime', body).expect(202)).headers['x-call-id'] ?? '';
  }

  async function fillIn(page: Page, name: string, code?: string): Promise<void> {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(PASSWORD);
    if (code !== undefined) await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  async function signIn(page: Page, name: string, at = ''): Promise<void> {
    await page.goto(`${url}/console${at}`);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await fillIn(page, name);
    await page.getByRole('banner').waitFor();
  }

  it('signs in at the provider, steps up, approves a payout, and signs out', async () => {
    const id = await held(11);
    const page = await browser.browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${url}/console/approvals`);
    await page.getByRole('link', { name: 'Sign in with your company account' }).waitFor();
    expect(await page.getByLabel('API key').count()).toBe(0);
    await expectAccessible(page);
    await signIn(page, 'bob', '/approvals');
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/approvals/);
    expect(complaints).toEqual([]);

    const ask = () => page.getByRole('button', { name: 'Approve', exact: false }).first().click();
    const approve = () => page.getByRole('dialog').getByRole('button', { name: 'Approve and send' }).click();
    await ask();
    await page.getByLabel('Reason').fill('Case 17');
    await approve();
    await page.getByText('Prove who you are').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await fillIn(page, 'bob', '123456');
    await page.getByRole('banner').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/approvals/);
    await ask();
    expect(await page.getByLabel('Reason').inputValue()).toBe('Case 17');
    await approve();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    const sql = 'SELECT kind, actor FROM decision WHERE intent_id = $1';
    expect(await scene.proxy.database.query(sql, [id])).toEqual([{ kind: 'approved', actor: 'bob' }]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('link', { name: 'Sign in with your company account' }).waitFor();
    for (let steps = 0; steps < 4; steps += 1) {
      await page.goBack({ waitUntil: 'load' });
      expect(await page.content()).not.toContain('shop-11');
      expect(await page.content()).not.toContain('Case 17');
    }
    await page.goto(`${url}/console/approvals`);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await page.getByLabel('Password').waitFor(); // the provider has also forgotten the browser
    await page.context().close();
  });

  it('restores the reason after a step-up, for its author only', async () => {
    await held(12);
    const page = await browser.browser.newPage();
    await signIn(page, 'bob', '/approvals');
    const dialog = page.getByRole('dialog');
    const forms = 'Object.keys(localStorage).some((name) => name.includes("form"))';
    const kept = () => page.evaluate(`[sessionStorage.length, ${forms}]`);
    const ask = async (decision: string, reason: string) => {
      await page.getByRole('button', { name: decision }).first().click();
      await dialog.waitFor();
      expect(await page.getByLabel('Reason').inputValue()).toBe(reason);
    };
    const tryToApprove = async () => {
      await page.getByLabel('Reason').fill('Case 18');
      await dialog.getByRole('button', { name: 'Approve and send' }).click();
      await page.getByText('Prove who you are').waitFor();
      expect(await kept()).toEqual([1, false]);
    };
    const close = async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await kept()).toEqual([0, false]);
    };
    await ask('Approve', '');
    await tryToApprove();
    await close(); // without a sign-in
    await ask('Approve', '');
    await tryToApprove();
    await page.reload(); // as after the provider
    await ask('Approve', 'Case 18');
    expect(await kept()).toEqual([0, false]);
    await close();

    await ask('Approve', '');
    await tryToApprove();
    await page.reload();
    await ask('Reject', ''); // the reason belongs to the approval
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await ask('Approve', 'Case 18');
    await tryToApprove();
    await page.context().clearCookies();
    await signIn(page, 'dora', '/approvals');
    await ask('Approve', '');
    await tryToApprove();
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('link', { name: 'Sign in with your company account' }).waitFor();
    expect(await kept()).toEqual([0, false]);
    await page.context().close();
  });

  it('restores the forms of clients, providers and people after a step-up', async () => {
    await scene.proxy.client('forms', 'pay', 'read');
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    await clients.update('forms', { origins: ['https://app.example'] });
    const page = await browser.browser.newPage();
    await signIn(page, 'alice', '/clients');
    const dialog = page.getByRole('dialog');
    const kept = () => page.evaluate('sessionStorage.length');
    const interrupt = async (button: string) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByText('Your input is kept.').waitFor();
    };
    const open = (button: string) => page.getByRole('button', { name: button }).click();

    await open('New client');
    await dialog.getByLabel('Name').fill('new');
    await dialog.getByLabel('Kind').selectOption('public');
    await dialog.getByLabel('Daily cap, USD').fill('12');
    await interrupt('Create');
    await page.reload(); // as after the provider
    await open('New client');
    const given = ['Name', 'Kind', 'Daily cap, USD'].map((name) => dialog.getByLabel(name).inputValue());
    expect(await Promise.all(given)).toEqual(['new', 'public', '12']);
    expect(await kept()).toBe(0);

    await page.goto(`${url}/console/clients/forms/persons`);
    await open('Limit a person');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('walter');
    await dialog.getByLabel('Daily cap').fill('3');
    await dialog.getByLabel('Reason').fill('Case 19');
    await interrupt('Save');
    await page.reload();
    await open('Limit a person');
    const name = await dialog.getByRole('textbox', { name: 'Name' }).inputValue();
    const others = ['Daily cap', 'Reason'].map((label) => dialog.getByLabel(label).inputValue());
    expect([name, ...(await Promise.all(others))]).toEqual(['walter', '3', 'Case 19']);
    expect(await kept()).toBe(0);

    await page.goto(`${url}/console/clients/forms`);
    await page.getByLabel('Page issuer', { exact: true }).fill('https://id.example');
    await page.getByLabel('Client ID at the page issuer').fill('pages');
    await interrupt('Save');
    await clients.update('forms', { maxItems: 7 }); // by another administrator
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await fillIn(page, 'alice', '123456');
    expect(await page.getByLabel('Page issuer', { exact: true }).inputValue()).toBe('https://id.example');
    expect(await kept()).toBe(0);
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const pages = { page_issuer: 'https://id.example', page_client_id: 'pages' };
    expect((await sent).postDataJSON()).toEqual(pages);
    await page.getByText('Saved. The change applies from the next request.').waitFor();
    await page.context().close();
  });

  it('keeps no token and no secret where scripts can read it', async () => {
    const page = await browser.browser.newPage();
    await signIn(page, 'alice');
    const readable = '{ ...localStorage }, { ...sessionStorage }, document.cookie';
    const kept = await page.evaluate<string>(
      `JSON.stringify([${readable}, document.documentElement.outerHTML])`,
    );
    const session = (await page.context().cookies(url)).find(({ name }) => name === 'payout_proxy');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', expires: -1 });
    expect(kept).not.toContain(session?.value);
    expect(kept).not.toMatch(/eyJ|code=|state=/);
    expect(page.url()).toBe(`${url}/console`);
    await page.context().close();
  });

  it('shows an unknown person what to send to an administrator, who allows the sign-in', async () => {
    const carols = await browser.browser.newPage();
    await carols.goto(`${url}/console`);
    await carols.getByRole('link', { name: 'Sign in with your company account' }).click();
    await fillIn(carols, 'carol');
    await carols.getByRole('heading', { name: 'You have no access yet' }).waitFor();
    const subject = (await carols.getByText('carol', { exact: true }).textContent()) ?? '';

    const alices = await browser.browser.newPage();
    await signIn(alices, 'alice', '/clients/ops');
    await alices.getByRole('button', { name: 'Let a person sign in' }).click();
    await alices.getByRole('textbox', { name: 'Person', exact: true }).fill('carol.k');
    await alices.getByLabel('Subject').fill(subject);
    await alices.getByRole('button', { name: 'Allow sign-in' }).click();
    await alices.getByRole('link', { name: 'Sign in again' }).click(); // step-up
    await fillIn(alices, 'alice', '123456');
    await alices.getByRole('button', { name: 'Let a person sign in' }).click();
    expect(await alices.getByRole('textbox', { name: 'Person', exact: true }).inputValue()).toBe('carol.k');
    expect(await alices.getByLabel('Subject').inputValue()).toBe(subject);
    await alices.getByRole('button', { name: 'Allow sign-in' }).click();
    await alices.getByText('sign-in of carol').waitFor();

    await carols.getByRole('link', { name: 'Sign in again' }).click();
    await carols.getByRole('banner').waitFor();
    await carols.getByText('carol.k').waitFor();
    await carols.context().close();
    await alices.context().close();
  });
});

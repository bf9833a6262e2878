import { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../../support/console/accessible';
import { complaintsOf, signIn, widthOf } from '../../support/console/console';
import { ConsoleScene, consoleScene } from '../../support/console/console-scene';
import supertest from '../../support/http/supertest';

/** The frame of the console's pages: sign-in, navigation, and content security. */
describe('the console', () => {
  let proxy: ConsoleScene['proxy'];
  let browser: Browser;
  let keys: Record<'app' | 'auditor' | 'admin', string>;
  let visit: ConsoleScene['visit'];

  beforeAll(async () => {
    ({ proxy, browser, visit } = await consoleScene());
    keys = {
      app: (await proxy.client('app', 'pay', 'read')).key,
      auditor: (await proxy.client('auditor', 'audit')).key,
      admin: (await proxy.client('admin', 'admin')).key,
    };
  });

  const pagesOf = async (page: Page) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();

  it('rejects a wrong key with the reason, and accepts the right one', async () => {
    const page = await browser.newPage();
    await page.goto(`${proxy.url}/console`);
    await page.getByLabel('API key').fill('pp_auditor_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This API key is unknown, expired, or revoked').waitFor();
    // there are no demo keys
    expect(await page.textContent('main')).not.toContain('Just installed payout-proxy?');
    await expectAccessible(page);
    await page.getByLabel('API key').fill(keys.auditor);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.close();
  });

  it('shows each key its pages, or explains that it has none', async () => {
    const auditor = await visit(keys.auditor, '/clients');
    expect(await pagesOf(auditor)).toEqual(['Overview', 'Calls', 'Payouts', 'Activity', 'Claim a key']);
    await auditor.getByText('your key does not have access to it').waitFor();
    const admin = await visit(keys.admin);
    expect(await pagesOf(admin)).toEqual([
      'Overview',
      'Clients',
      'Changes',
      'Activity',
      'Stop switch',
      'Claim a key',
    ]);
    const app = await visit(keys.app);
    await app.getByText('it cannot see anything in the console').waitFor();
    expect(await pagesOf(app)).toEqual([]);
    await expectAccessible(app);
  });

  it('shows the API documents at /docs, with a switch, under their own policy', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${proxy.url}/docs`);
    await page.getByText('/api/v0.1/payouts/airtime', { exact: true }).waitFor();
    await page.locator('#select').selectOption({ label: 'payout-proxy for operators and auditors' });
    await page.getByText('/v1/audit/summary', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('stores no key in the browser, and hides the cookie from scripts', async () => {
    const page = await visit(keys.auditor);
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, ' +
        'document.documentElement.outerHTML])',
    );
    expect(kept).not.toContain(keys.auditor);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([
      { name: 'payout_proxy', httpOnly: true, sameSite: 'Strict', expires: -1 },
    ]);
    expect(kept).not.toContain(cookies[0]?.value);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor(); // still signed in
  });

  it('loads nothing from other origins, obeys its policy, and stays small', async () => {
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    const origins: string[] = [];
    const scripts = new Set<string>();
    page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      origins.push(origin);
      if (request.resourceType() === 'script') scripts.add(pathname);
    });
    const answer = await page.goto(`${proxy.url}/console`);
    // only with the embedded sandbox, / redirects to the console
    expect((await fetch(proxy.url)).status).toBe(404);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    await page.getByLabel('API key').fill(keys.auditor);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('region', { name: 'By day (UTC) and operation' }).waitFor();
    await expectSmall([...scripts]); // of the complete first page, with its charts
    for (const name of ['Calls', 'Payouts']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    expect([...new Set(origins)]).toEqual([proxy.url]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  /** Expects less than 300 kB of compressed scripts, which browsers cache permanently. */
  async function expectSmall(scripts: string[]): Promise<void> {
    const sizes = await Promise.all(
      scripts.map(async (path) => {
        const { headers } = await supertest(proxy.url).get(path).set('Accept-Encoding', 'gzip').buffer(false);
        expect(headers).toMatchObject({
          'content-encoding': 'gzip',
          'cache-control': expect.stringMatching(/immutable/),
        });
        return Number(headers['content-length']);
      }),
    );
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
  }

  it('signs out, and invalidates the cookie', async () => {
    const page = await visit(keys.auditor);
    const [cookie] = await page.context().cookies();
    const before = supertest(proxy.url).get('/v1/session').set('Cookie', `payout_proxy=${cookie?.value}`);
    expect((await before).status).toBe(200);
    await page.getByText('Signed in as auditor').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    const after = supertest(proxy.url).get('/v1/session').set('Cookie', `payout_proxy=${cookie?.value}`);
    expect((await after).status).toBe(401);
  });

  it('asks for a new sign-in after the key was revoked', async () => {
    const { key } = await proxy.client('short', 'audit');
    const page = await signIn(browser, proxy.url, key);
    await proxy.database.query(
      "UPDATE api_key SET revoked_at = now() FROM client c WHERE c.id = client_id AND c.name = 'short'",
    );
    const calls = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Calls' });
    // another request of the page may come first
    void calls.click({ timeout: 5_000 }).catch(() => undefined);
    await page.getByText('Your session has ended').waitFor();
  });

  it('stays signed in through a reload during a database outage, and recovers on its own', async () => {
    const page = await visit(keys.admin, '/clients');
    await page.getByRole('table', { name: 'Clients' }).waitFor();
    await proxy.database.query('ALTER TABLE console_session RENAME TO console_session_away');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Cannot be reached' }).waitFor();
    await page.getByText('You are still signed in').waitFor();
    expect(await page.getByLabel('API key').count()).toBe(0);
    await expectAccessible(page);
    await proxy.database.query('ALTER TABLE console_session_away RENAME TO console_session');
    await page.getByRole('table', { name: 'Clients' }).waitFor();

    // The page stays without its colours, and states that it may be outdated.
    await proxy.database.query('ALTER TABLE console_session RENAME TO console_session_away');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Stop switch' }).click();
    await page.getByRole('status').getByText('Not up to date.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in.').waitFor();
    await proxy.database.query('ALTER TABLE console_session_away RENAME TO console_session');
    await page.getByText('Not up to date.').waitFor({ state: 'detached', timeout: 30_000 });
  });

  it('signs out after a long time without activity in any tab', async () => {
    const context = await browser.newContext();
    await context.clock.install();
    const page = await context.newPage();
    await page.goto(`${proxy.url}/console/clients`);
    await page.getByLabel('API key').fill(keys.admin);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor();
    const other = await context.newPage();
    await other.goto(`${proxy.url}/console/clients`);
    await context.clock.runFor('20:00');
    await other.mouse.move(10, 10);
    await context.clock.runFor('20:00');
    // the other tab was used
    expect(await page.getByRole('heading', { level: 1, name: 'Clients' }).isVisible()).toBe(true);
    await context.clock.runFor('31:00');
    await page.getByText('You were signed out because you were inactive.').waitFor();
    await context.close();
  });

  it('fits a phone, and is usable by keyboard', async () => {
    const page = await visit(keys.admin, '/', 360);
    expect(await widthOf(page)).toBe(360);
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Stop switch' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Stop switch' }).waitFor();
    await expectAccessible(page);
  });
});

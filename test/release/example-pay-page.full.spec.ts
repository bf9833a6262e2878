import { Page } from 'playwright-core';
import { PASSWORD, publicClient, startProvider, TestProvider } from '../support/access/provider';
import { createTokenClient } from '../support/access/token-client';
import { startBrowser, TestBrowser } from '../support/console/browser';
import {
  ANSWER_IS_LOST,
  arrivalsOf,
  expectNoSecrets,
  PayPage,
  payOn,
  readableOn,
  resultOn,
  servePayPage,
  signInOn,
} from '../support/console/pay-page';
import supertest from '../support/http/supertest';
import { eventually } from '../support/payments/paying';
import { startProxyWithSandbox, UPSTREAM_KEY } from '../support/processes/proxy';

const RESOURCE = 'https://payouts.example';

/** Follows examples/pay-page with tokens: a page without a secret, with visitors who sign in. */
describe('the example page', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let provider: TestProvider;
  let chromium: TestBrowser;
  let page: Page;
  let site: PayPage;
  let reconciler: string;
  /** Tokens issued to the page. */
  const tokens: string[] = [];

  beforeAll(async () => {
    site = await servePayPage('127.0.0.1');
    const clients = [publicClient('pay-page', `${site.origin}/`)];
    provider = await startProvider({ clients, defaultResource: RESOURCE });
    proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 10_000 });
    await proxy.startWorker();
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    const { issuer, jwksUri } = provider;
    const app = { issuer, jwksUri, audience: RESOURCE, clientId: 'pay-page', algorithms: ['RS256'] };
    const { id } = await createTokenClient(proxy.database, 'pay-page', app, { scopes: ['pay', 'read'] });
    const sql = 'UPDATE client SET origins = $2, person_daily_cap_usd = 5 WHERE id = $1';
    await proxy.database.query(sql, [id, [site.origin]]);
    await site.build({
      VITE_PROXY_URL: proxy.url,
      VITE_ISSUER: issuer,
      VITE_CLIENT_ID: 'pay-page',
      VITE_RESOURCE: RESOURCE,
    });
    chromium = await startBrowser();
    page = await chromium.browser.newPage();
    page.on('response', (response) => {
      if (!response.url().endsWith('/token') || !response.ok()) return;
      void response.json().then((body: Record<string, string>) => tokens.push(...Object.values(body)));
    });
  });
  afterAll(async () => {
    await chromium.close();
    site.close();
    await proxy.close();
    await provider.stop();
  });

  const arrivals = (phone: string) => arrivalsOf(phone, proxy.sandbox.url);

  it('lets a visitor sign in and pay', async () => {
    await page.goto(site.origin);
    await signInOn(page, 'alice');
    await payOn(page, '+254712345678', '1.50');
    expect(await resultOn(page, 'succeeded', true)).toBe('Paid.');
    const [person] = await proxy.database.query('SELECT issuer, name FROM person');
    expect(person).toEqual({ issuer: provider.issuer, name: 'alice' });
  });

  it('follows a payment without an answer, also after a reload, until it is settled', async () => {
    await payOn(page, ANSWER_IS_LOST, '2');
    await resultOn(page, 'unknown', false);
    await page.reload(); // the tokens are lost, but the provider knows the visitor, and the page its payment
    await page.getByRole('button', { name: 'Sign in' }).click();
    await resultOn(page, 'unknown', false);
    await supertest(proxy.url)
      .post('/v1/reconciliation/resolver/rounds')
      .set('X-API-Key', reconciler)
      .expect(200);
    await resultOn(page, 'succeeded', true);
    expect(await arrivals(ANSWER_IS_LOST)).toBe(1);
  });

  it("explains the refusal of a payment over the visitor's own cap", async () => {
    await payOn(page, '+254712345679', '1.51');
    expect(await resultOn(page, 'rejected', true)).toMatch(/^Not paid: .*limit/);
    expect(await arrivals('+254712345679')).toBe(0);
  });

  it('has no secret and no token in its files, its storage, its cookies and its text', async () => {
    await eventually(() => tokens.length > 0);
    const secrets = [...tokens, UPSTREAM_KEY, PASSWORD, reconciler]
      .map(String)
      .filter(({ length }) => length > 20);
    const places = await readableOn(page, site);
    expectNoSecrets([...places, JSON.stringify(await page.context().cookies(site.origin))], secrets);
    const [files = '', storage] = places;
    expect([storage, secrets.length > 3, files.length > 10_000]).toEqual(['[{},{}]', true, true]);
  });
});

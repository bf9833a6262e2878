import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Page } from 'playwright-core';
import { startBrowser, TestBrowser } from './support/browser';
import { eventually } from './support/paying';
import { PASSWORD, publicClient, startProvider, TestProvider } from './support/provider';
import { startProxyWithSandbox, UPSTREAM_KEY } from './support/proxy';
import { askSandbox } from './support/sandbox-answers';
import supertest from './support/supertest';
import { createTokenClient } from './support/token-client';

const ROOT = resolve(__dirname, '..');
const RESOURCE = 'https://payouts.example';
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

/** The sandbox pays this number and loses the answer. */
const ANSWER_IS_LOST = '+254799990204';

/** Serves the files of a folder, as any web server does. */
async function serve(folder: string): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    const name = path === '/' ? '/index.html' : path;
    try {
      const content = readFileSync(join(folder, name));
      response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The story of examples/pay-page: a page without a secret, whose visitors sign in at the company's provider. */
describe('the page of the examples', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let provider: TestProvider;
  let chromium: TestBrowser;
  let page: Page;
  let site: Awaited<ReturnType<typeof serve>>;
  let reconciler: string;
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-pay-page-'));
  /** The tokens that the provider has given to the page. */
  const tokens: string[] = [];

  beforeAll(async () => {
    site = await serve(folder);
    const clients = [publicClient('pay-page', `${site.origin}/`)];
    provider = await startProvider({ clients, defaultResource: RESOURCE });
    proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 1_000 });
    await proxy.startWorker();
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    const { issuer, jwksUri } = provider;
    const app = { issuer, jwksUri, audience: RESOURCE, clientId: 'pay-page', algorithms: ['RS256'] };
    const { id } = await createTokenClient(proxy.database, 'pay-page', app, { scopes: ['pay', 'read'] });
    const sql = 'UPDATE client SET origins = $2, person_daily_cap_usd = 5 WHERE id = $1';
    await proxy.database.query(sql, [id, [site.origin]]);
    const env = {
      ...process.env,
      VITE_PROXY_URL: proxy.url,
      VITE_ISSUER: issuer,
      VITE_CLIENT_ID: 'pay-page',
      VITE_RESOURCE: RESOURCE,
    };
    const given = ['build', '-c', 'examples/pay-page/vite.config.mts', '--outDir', folder, '--logLevel', 'warn'];
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/vite'), given, { cwd: ROOT, env });
    chromium = await startBrowser();
    page = await chromium.browser.newPage();
    page.on('response', (response) => {
      if (!response.url().endsWith('/token') || !response.ok()) return;
      void response.json().then((body: Record<string, string>) => tokens.push(...Object.values(body)));
    });
  });
  afterAll(async () => {
    await chromium.close();
    site.server.close();
    await proxy.close();
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function pay(phone: string, usd: string): Promise<void> {
    await page.getByLabel('Phone number').fill(phone);
    await page.getByLabel('US dollars').fill(usd);
    await page.getByRole('button', { name: 'Pay' }).click();
  }

  const says = (status: string, settled: boolean) =>
    page.locator(`#status[data-status="${status}"][data-settled="${settled}"]`).waitFor();

  const arrivals = async (phone: string) => {
    const { body } = await askSandbox(proxy.sandbox.url).get('/_sandbox/requests').set(CONTROL).expect(200);
    return body.filter((one) => JSON.stringify(one.body).includes(phone)).length;
  };

  it('lets a visitor sign in and pay', async () => {
    await page.goto(site.origin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Name').fill('alice');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await pay('+254712345678', '1.50');
    await says('succeeded', true);
    expect(await page.locator('#status').textContent()).toBe('Paid.');
    const [person] = await proxy.database.query('SELECT issuer, name FROM person');
    expect(person).toEqual({ issuer: provider.issuer, name: 'alice' });
  });

  it('follows a payment whose answer is lost, also after a reload, until it is settled', async () => {
    await pay(ANSWER_IS_LOST, '2');
    await says('unknown', false);
    await page.reload(); // the provider knows the visitor, and the page its payment
    await says('unknown', false);
    await supertest(proxy.url).post('/v1/reconciliation/resolver/rounds').set('X-API-Key', reconciler).expect(200);
    await says('succeeded', true);
    expect(await arrivals(ANSWER_IS_LOST)).toBe(1);
  });

  it("says why a payment over the visitor's own cap is refused", async () => {
    await pay('+254712345679', '1.51');
    await says('rejected', true);
    expect(await page.locator('#status').textContent()).toMatch(/^Not paid: .*limit/);
    expect(await arrivals('+254712345679')).toBe(0);
  });

  it('has no secret and no token in its files, its storage, its cookies and its text', async () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    const bundle = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    const cookies = JSON.stringify(await page.context().cookies(site.origin));
    const text = await page.content();
    await eventually(() => tokens.length > 0);
    const secrets = [...tokens, UPSTREAM_KEY, PASSWORD, reconciler].filter((value) => String(value).length > 20);
    for (const place of [bundle, stored, cookies, text]) {
      expect(secrets.filter((secret) => place.includes(String(secret)))).toEqual([]);
      expect(place).not.toMatch(/client_secret|\bpp_[a-z0-9-]+_[A-Za-z0-9]{16}/);
    }
    expect([stored, secrets.length > 3, bundle.length > 10_000]).toEqual(['[{},{}]', true, true]);
  });
});

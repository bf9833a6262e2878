import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Page } from 'playwright-core';
import { PASSWORD } from '../support/access/provider';
import {
  ANSWER_IS_LOST,
  arrivalsOf,
  expectNoSecrets,
  payOn,
  readableOn,
  resultOn,
  signInOn,
} from '../support/console/pay-page';
import {
  Attempt,
  attemptFrom,
  README_PAGE,
  SessionPage,
  startSessionPage,
} from '../support/console/session-page';
import supertest from '../support/http/supertest';
import { UPSTREAM_KEY } from '../support/processes/proxy';

const SDK = resolve(__dirname, '..', '..', 'packages/sdk');
const COOKIE = 'payout_proxy_page_wallet';

/** Header of every JWT, and the beginning of its claims. */
const JWT = /eyJ[\w-]+\.eyJ/;

/** Follows examples/pay-page with a session, for which visitors sign in at the provider. */
describe('the example page with a session', () => {
  let scene: SessionPage;
  let page: Page;
  /** Responses received by the page. */
  const received: string[] = [];

  beforeAll(async () => {
    scene = await startSessionPage();
    page = await scene.context.newPage();
    page.on('response', (response) => {
      received.push(response.url());
      const text = response.text().catch(() => ''); // a redirect has no body
      void text.then((content) => received.push(content));
    });
  });
  afterAll(() => scene.close());

  const arrivals = (phone: string) => arrivalsOf(phone, scene.proxy.sandbox.url);
  const cookies = async () =>
    (await scene.context.cookies(scene.url)).filter(({ name }) => name.startsWith('payout_proxy_page'));
  const signIn = (on: Page) => on.getByRole('button', { name: 'Sign in' });

  it('lets a visitor sign in at the provider and pay', async () => {
    await page.goto(scene.site.origin);
    await signInOn(page, 'alice');
    await payOn(page, '+254712345678', '1.50');
    expect(await resultOn(page, 'succeeded', true)).toBe('Paid.');
    expect(page.url()).toBe(`${scene.site.origin}/`);
    const people = await scene.proxy.database.query('SELECT issuer, name FROM person');
    expect(people).toEqual([{ issuer: scene.provider.issuer, name: 'alice' }]);
  });

  it('follows a payment without an answer, also after a reload, until it is settled', async () => {
    await payOn(page, ANSWER_IS_LOST, '2');
    await resultOn(page, 'unknown', false);
    await page.reload(); // the visitor is still signed in, and the page knows its payment
    await resultOn(page, 'unknown', false);
    const { proxy, reconciler } = scene;
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

  it('has no secret and no token in its files, its storage, its text and its received data', async () => {
    const [cookie] = await cookies();
    const secrets = [cookie?.value ?? '', UPSTREAM_KEY, PASSWORD, scene.reconciler];
    const places = [...(await readableOn(page, scene.site)), ...received];
    expectNoSecrets(places, secrets);
    expect(places.filter((text) => JWT.test(text))).toEqual([]);
    const [files = '', storage] = places;
    expect([storage, files.length > 10_000, secrets.every(({ length }) => length > 10)]).toEqual([
      '[{},{}]',
      true,
      true,
    ]);
    expect(received.some((text) => text.includes('csrf_token'))).toBe(true);
  });

  it('has a cookie that is hidden from scripts', async () => {
    const expected = { name: COOKIE, httpOnly: true, sameSite: 'Strict', domain: 'localhost', path: '/' };
    expect(await cookies()).toEqual([expect.objectContaining(expected)]);
    for (const address of [scene.site.origin, `${scene.url}/livez`]) {
      const other = await scene.context.newPage();
      await other.goto(address);
      expect(await other.evaluate<string>('document.cookie')).toBe('');
      await other.close();
    }
  });

  it.each([
    {
      pages: 'an origin that no client allows',
      from: 'unknown',
      answer: 'no answer',
      code: 'csrf',
      phone: '+254712345684',
    },
    {
      pages: 'an origin of another client with sessions',
      from: 'neighbour',
      answer: expect.objectContaining({ status: 403 }),
      code: 'csrf',
      phone: '+254712345685',
    },
    {
      pages: 'another site, though their origin is allowed',
      from: 'elsewhere',
      answer: expect.objectContaining({ status: 401 }),
      code: 'missing_key',
      phone: '+254712345686',
    },
  ] as const)('lets pages of $pages neither read nor pay', async ({ from, answer: refused, code, phone }) => {
    const token = await attemptFrom(page, { url: scene.url, path: '/v1/page-sessions/wallet' });
    const known = typeof token === 'string' ? '' : String(token.csrf_token);
    expect(known).toMatch(/^[\w-]{43}$/);
    const foreign = await scene.context.newPage();
    await foreign.goto(scene[from]);
    const body = JSON.stringify({
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: phone, valueInUSD: 0.1 }],
    });
    const pay = { path: '/api/v0.1/payouts/airtime', body };
    const attempts: Omit<Attempt, 'url'>[] = [
      { path: '/v1/page-sessions/wallet' },
      { path: '/v1/calls', token: known },
      { path: '/v1/calls' },
      { ...pay, token: known },
      pay,
      { ...pay, mode: 'no-cors' },
    ];
    for (const tried of attempts) {
      const answer = await attemptFrom(foreign, { url: scene.url, ...tried });
      expect(answer).toEqual(tried.mode === undefined ? refused : 'no answer');
      expect(JSON.stringify(answer)).not.toContain(known);
    }
    const form =
      `<form method="post" enctype="text/plain" action="${scene.url}${pay.path}"><input name="{" ` +
      'value="}"></form>';
    await foreign.setContent(form);
    await foreign.evaluate('document.forms[0].submit()');
    await foreign.waitForURL(`${scene.url}/**`);
    expect(await foreign.textContent('body')).toContain(`"code":"${code}"`);
    await foreign.close();
    expect(await arrivals(phone)).toBe(0);
    // The same request from the client's own page is accepted.
    expect(await attemptFrom(page, { url: scene.url, ...pay, token: known })).toMatchObject({ status: 200 });
    expect(await arrivals(phone)).toBe(1);
  });

  it('is the only target of a sign-in', async () => {
    const other = await scene.context.newPage();
    const returnTo = encodeURIComponent(scene.unknown);
    const answer = await other.goto(`${scene.url}/session/pages/wallet/sign-in?return_to=${returnTo}`);
    expect([answer?.status(), new URL(other.url()).origin]).toEqual([400, scene.url]);
    expect(await other.textContent('h1')).toBe('This page may not sign you in');
    await other.close();
  });

  it('continues a payment after the end of the session, once', async () => {
    await scene.proxy.database.query("UPDATE page_session SET used_at = now() - interval '1 day'");
    await payOn(page, '+254712345681', '0.20');
    await signIn(page).waitFor();
    expect(await page.locator('#status').textContent()).toMatch(
      /^Sign in to continue this payment: .*has ended/,
    );
    await signIn(page).click(); // the provider still knows the visitor
    expect(await resultOn(page, 'succeeded', true)).toBe('Paid.');
    expect(await arrivals('+254712345681')).toBe(1);
  });

  it('continues after a sign-in in another tab, and pays nothing for another person', async () => {
    const tab = await scene.context.newPage();
    const again = async () => {
      const returnTo = encodeURIComponent(`${scene.site.origin}/`);
      await tab.goto(`${scene.url}/session/pages/wallet/sign-in?return_to=${returnTo}`);
    };
    await again();
    await payOn(page, '+254712345682', '0.20');
    expect(await resultOn(page, 'succeeded', true)).toBe('Paid.');
    await scene.context.clearCookies({ domain: '127.0.0.1' }); // the provider forgets alice
    await again();
    await tab.getByLabel('Name').fill('bob');
    await tab.getByLabel('Password').fill(PASSWORD);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.getByRole('button', { name: 'Pay' }).waitFor();
    await payOn(page, '+254712345683', '0.20');
    await signIn(page).waitFor();
    expect(await page.locator('#status').textContent()).toContain('Another person has signed in');
    expect([await arrivals('+254712345682'), await arrivals('+254712345683')]).toEqual([1, 0]);
    await tab.close();
  });

  it('signs a visitor out here and at the provider, for good', async () => {
    await page.reload(); // as bob
    const [cookie] = await cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await signIn(page).waitFor();
    expect([page.url(), await cookies()]).toEqual([`${scene.site.origin}/`, []]);
    const { body } = await supertest(scene.proxy.url)
      .get('/v1/page-sessions/wallet')
      .set('Cookie', `${COOKIE}=${cookie?.value}`)
      .expect(401);
    expect(body).toMatchObject({ code: 'session_ended' });
    expect(await attemptFrom(page, { url: scene.url, path: '/v1/calls', token: 'x' })).toMatchObject({
      status: 401,
    });
    await signIn(page).click();
    await page.getByLabel('Password').waitFor();
  });

  it("runs the example of the SDK's README", async () => {
    const readme = readFileSync(join(SDK, 'README.md'), 'utf8');
    const [, code = ''] = /^```js\n([^`]*location\.[^`]*)^```$/m.exec(readme) ?? [];
    const module = code.replace("'https://payouts.example.com'", JSON.stringify(scene.url));
    const imports = JSON.stringify({ imports: { '@payout-proxy/sdk': '/sdk/index.js' } });
    const body = `<script type="importmap">${imports}</script>
      <script type="module">import { PayoutProxy } from '@payout-proxy/sdk'; ${module}</script>`;
    writeFileSync(join(scene.site.folder, README_PAGE), body);
    cpSync(join(SDK, 'dist/esm'), join(scene.site.folder, 'sdk'), { recursive: true });
    const reader = await scene.context.newPage();
    const printed: string[] = [];
    reader.on('console', (message) => printed.push(message.text()));
    await reader.goto(`${scene.site.origin}/${README_PAGE}`);
    await reader.getByLabel('Name').fill('carol');
    await reader.getByLabel('Password').fill(PASSWORD);
    await signIn(reader).click();
    await reader.getByRole('button', { name: 'Yes, sign me out' }).waitFor();
    expect(printed.filter((text) => !text.includes('401'))).toEqual(['succeeded']);
  });
});

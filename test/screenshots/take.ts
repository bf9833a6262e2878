import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Page } from 'playwright-core';
import { startBrowser, TestBrowser } from '../support/console/browser';
import { signIn } from '../support/console/console';
import { Scene, startScene } from './scene';

/** Folder for all pages in both color schemes and at both widths, for review (SCREENSHOTS). */
const EVERYTHING = process.env.SCREENSHOTS;
const FOLDER = resolve(EVERYTHING ?? join(__dirname, '..', '..', 'docs', 'screenshots'));

const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 360, height: 740 };

interface Shot {
  name: string;
  path: (scene: Scene) => string;
  /** Waits for the complete page, and prepares it for the picture. */
  ready: (page: Page) => Promise<unknown>;
}

const rows = (page: Page) => page.locator('tbody tr').first().waitFor();
const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor();

const SHOTS: Shot[] = [
  {
    name: 'overview',
    path: () => '/',
    ready: (page) => page.getByRole('img', { name: /Bars by day/ }).waitFor(),
  },
  { name: 'calls', path: () => '/calls', ready: rows },
  { name: 'payouts', path: () => '/payouts?country=Kenya', ready: rows },
  { name: 'call', path: ({ paid }) => `/calls/${paid}`, ready: rows },
  {
    name: 'verified',
    path: ({ paid }) => `/calls/${paid}`,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByText('Verified', { exact: true }).waitFor();
      await page
        .getByRole('region', { name: 'Proof' })
        .evaluate('(proof) => scrollBy(0, proof.getBoundingClientRect().top - 70)');
    },
  },
  { name: 'approvals', path: ({ held }) => `/approvals?chosen=${held}`, ready: text('$100.50') },
  { name: 'reconciliation', path: () => '/reconciliation', ready: rows },
  { name: 'run', path: ({ run }) => `/reconciliation/runs/${run}`, ready: rows },
  { name: 'findings', path: () => '/reconciliation/findings', ready: rows },
  {
    name: 'finding',
    path: () => '/reconciliation/findings',
    ready: async (page) => {
      await page.getByRole('link', { name: 'Unknown transaction at the upstream' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Unknown transaction at the upstream' }).waitFor();
    },
  },
  { name: 'clients', path: () => '/clients', ready: rows },
  { name: 'client', path: () => '/clients/app', ready: rows },
  { name: 'people', path: () => '/clients/wallet/persons', ready: rows },
  {
    name: 'person',
    path: ({ person }) => `/clients/wallet/persons/${person}`,
    ready: text('Spent today, UTC'),
  },
  { name: 'stop-switch', path: () => '/stops', ready: (page) => page.getByRole('radio').first().waitFor() },
  { name: 'sandbox', path: () => '/sandbox', ready: rows },
];

describe('the screenshots', () => {
  let scene: Scene;
  let browser: TestBrowser;

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    [scene, browser] = await Promise.all([startScene(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await scene.close();
  });

  const variants = EVERYTHING
    ? (['light', 'dark'] as const).flatMap((scheme) => [
        { scheme, viewport: WIDE, suffix: `-${scheme}-wide` },
        { scheme, viewport: NARROW, suffix: `-${scheme}-narrow` },
      ])
    : [{ scheme: 'light' as const, viewport: WIDE, suffix: '' }];

  it.each(variants)(
    'show all pages in $scheme at $viewport.width pixels',
    async ({ scheme, viewport, suffix }) => {
      const page = await signIn(browser.browser, scene.url, scene.keys.admin, {
        viewport,
        colorScheme: scheme,
      });
      for (const { name, path, ready } of SHOTS) {
        await page.goto(`${scene.url}/console${path(scene)}`);
        await ready(page);
        await page.screenshot({
          path: join(FOLDER, `${name}${suffix}.png`),
          fullPage: EVERYTHING !== undefined,
        });
      }
    },
  );

  it('show the dark overview, and a call on a phone', async () => {
    if (EVERYTHING) return;
    const dark = await signIn(browser.browser, scene.url, scene.keys.admin, {
      viewport: WIDE,
      colorScheme: 'dark',
    });
    await SHOTS[0]?.ready(dark);
    await dark.screenshot({ path: join(FOLDER, 'overview-dark.png') });
    const narrow = await signIn(browser.browser, scene.url, scene.keys.admin, {
      viewport: NARROW,
      at: `/calls/${scene.paid}`,
    });
    await narrow.getByRole('heading', { level: 1 }).waitFor();
    await narrow.screenshot({ path: join(FOLDER, 'call-narrow.png') });
  });
});

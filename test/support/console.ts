import { readFileSync } from 'node:fs';
import { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Web Content Accessibility Guidelines 2.1, levels A and AA. */
const WCAG_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Waits until colours no longer change. Each element begins its transition once its parent has ended. */
const SETTLED = `(async () => {
  const moving = () => document.getAnimations().filter((each) => each instanceof CSSTransition);
  while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;

export interface Opening extends BrowserContextOptions {
  /** The URL below /console. */
  at?: string;
}

/** Opens the console in a browser profile of its own, signed in with a key. console.spec.ts tests the sign-in page itself. */
export async function signIn(
  browser: Browser,
  url: string,
  key: string,
  { at = '/', ...options }: Opening = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  const answer = await fetch(`${url}/v1/session`, { method: 'POST', headers: { 'X-API-Key': key } });
  const [name = '', value = ''] = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0].split('=') ?? [];
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  await goTo(page, `${url}/console${at}`);
  return page;
}

/**
 * Opens addresses of the console in one tab for each key. A new page in the same tab costs half of what a new profile costs.
 * The tab keeps nothing of what it showed before: no stored views, no intercepted requests, no window size.
 */
export function tabsOf(browser: Browser, url: string) {
  const tabs = new Map<string, Page>();
  return async (key: string, at = '/', width = 1280): Promise<Page> => {
    const size = { width, height: width < 1280 ? 740 : 900 };
    const known = tabs.get(key);
    if (known === undefined) {
      const page = await signIn(browser, url, key, { at, viewport: size });
      tabs.set(key, page);
      return page;
    }
    await known.unrouteAll();
    await known.setViewportSize(size);
    await known.evaluate('localStorage.clear(); sessionStorage.clear()');
    await goTo(known, `${url}/console${at}`);
    return known;
  };
}

async function goTo(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('banner').waitFor();
}

/** Follows an address of the console as a link in the page does, without loading the page again. */
export async function follow(page: Page, at: string): Promise<void> {
  await page.evaluate((to) => {
    const { history } = globalThis as unknown as { history: { pushState(...given: unknown[]): void } };
    history.pushState(null, '', to);
  }, `/console${at}`);
}

/** How wide the page is. A page that fits is as wide as its window. */
export const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

/** Collects errors in the page's console, including violations of its content security policy. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

/**
 * Returns why a button does nothing yet, as a screen reader says it while the button has the focus. Undefined if it
 * works. A disabled button could not be reached by keyboard, and fails here.
 */
export async function reasonOf(button: Locator): Promise<string | undefined> {
  if (!(await button.isDisabled())) return undefined;
  await button.focus();
  const page = button.page();
  const reason = await page.locator('button:focus[aria-disabled]').getAttribute('aria-describedby', { timeout: 2_000 });
  return (await page.locator(`[id="${reason}"]`).textContent({ timeout: 2_000 })) ?? '';
}

/**
 * Checks a page, or a part of it, against WCAG in light and in dark, which differ in nothing but their colours. The specs call
 * it once for each page and each dialog.
 */
export async function expectAccessible(what: Page | Locator): Promise<void> {
  const part = 'page' in what ? what : what.locator('html');
  const page = part.page();
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  for (const [colorScheme, rules] of [
    ['light', { type: 'tag', values: WCAG_AA }],
    ['dark', { type: 'rule', values: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await page.evaluate(SETTLED);
    const faults = await part.evaluate(async (element, runOnly) => {
      const { axe } = globalThis as unknown as { axe: { run: (...given: unknown[]) => Promise<any> } };
      const { violations } = await axe.run(element, { runOnly, resultTypes: ['violations'] });
      return violations.map(({ id, nodes }: any) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
    }, rules);
    expect([colorScheme, faults]).toEqual([colorScheme, []]);
  }
}

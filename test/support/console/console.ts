import { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

export interface Opening extends BrowserContextOptions {
  /** The URL below /console. */
  at?: string;
}

/** Opens the console in a separate browser profile, signed in with a key, without the sign-in page. */
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
 * Opens addresses of the console in one tab per key. The page is loaded once, because loading costs several
 * times as much as navigation. The tab keeps no data, stored views, messages, intercepted requests or window
 * size between uses.
 */
export function tabsOf(browser: Browser, url: string) {
  const tabs = new Map<string, Page>();
  return async (key: string, at = '/', width = 1280): Promise<Page> => {
    const size = { width, height: width < 1280 ? 740 : 900 };
    const existing = tabs.get(key);
    if (existing === undefined) {
      const page = await signIn(browser, url, key, { at, viewport: size });
      tabs.set(key, page);
      return page;
    }
    await existing.unrouteAll();
    await existing.setViewportSize(size);
    await startAfresh(existing, at);
    return existing;
  };
}

async function goTo(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('banner').waitFor();
}

/** Drops the page's cached and stored data. Only inactive data can be dropped, so the page must be empty. */
const FORGET = `(() => {
  localStorage.clear();
  localStorage.setItem('payout-proxy.last-activity', Date.now()); // prevents the sign-out after inactivity
  sessionStorage.clear();
  for (const button of document.querySelectorAll('.mantine-Notification-closeButton')) button.click();
  const root = document.getElementById('root');
  const fibers = [root[Object.keys(root).find((key) => key.startsWith('__reactContainer'))]];
  for (const fiber of fibers) {
    const queries = fiber.memoizedProps?.client;
    if (queries) return queries.removeQueries({ type: 'inactive' });
    fibers.push(...[fiber.child, fiber.sibling].filter(Boolean));
  }
  throw new Error('the React root was not found');
})()`;

/** Navigates to an address like a freshly loaded page. */
export async function startAfresh(page: Page, at: string): Promise<void> {
  await follow(page, '/nothing');
  await page.evaluate(FORGET);
  await follow(page, at);
}

/** Navigates like a link in the page, without a reload. */
export async function follow(page: Page, at: string): Promise<void> {
  await page.evaluate(async (to) => {
    const { history, requestAnimationFrame: painted } = globalThis as unknown as {
      history: { pushState(...given: unknown[]): void };
      requestAnimationFrame: (then: () => void) => void;
    };
    history.pushState(null, '', to);
    await new Promise<void>((resolve) => painted(resolve)); // until then, the old page is visible
  }, `/console${at}`);
}

/** Width of the page. A page without overflow is as wide as its window. */
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
 * Returns the obstacle of a button, as a screen reader announces it at the focus. Undefined if the button
 * works. Fails for a disabled button, which a keyboard cannot reach.
 */
export async function reasonOf(button: Locator): Promise<string | undefined> {
  if (!(await button.isDisabled())) return undefined;
  await button.focus();
  const page = button.page();
  const reason = await page
    .locator('button:focus[aria-disabled]')
    .getAttribute('aria-describedby', { timeout: 2_000 });
  return (await page.locator(`[id="${reason}"]`).textContent({ timeout: 2_000 })) ?? '';
}

import { readFileSync } from 'node:fs';
import { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Of the Web Content Accessibility Guidelines 2.1, levels A and AA. */
const WCAG_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Waits until colours no longer change: each element begins with its own once its parent has ended. */
const SETTLED = `(async () => {
  const moving = () => document.getAnimations().filter((each) => each instanceof CSSTransition);
  while (moving().length > 0) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;

/**
 * A page of the console on which whoever has this key is signed in, in a browser profile of its own. The sign-in page itself
 * is tried in console.spec.ts.
 */
export async function signIn(
  browser: Browser,
  url: string,
  key: string,
  { at = '/', ...options }: BrowserContextOptions & { at?: string } = {},
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
  await page.goto(`${url}/console${at}`);
  await page.getByRole('banner').waitFor();
  return page;
}

/** What a page complains of in its console: errors, and what its content security policy kept from it. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

/**
 * Why a button does nothing yet, as a screen reader says it while the button has the focus; undefined: it works. A button that
 * is disabled for good measure could not be reached by keyboard, and fails here.
 */
export async function reasonOf(button: Locator): Promise<string | undefined> {
  if (!(await button.isDisabled())) return undefined;
  await button.focus();
  const page = button.page();
  const reason = await page.locator('button:focus[aria-disabled]').getAttribute('aria-describedby', { timeout: 2_000 });
  return (await page.locator(`[id="${reason}"]`).textContent({ timeout: 2_000 })) ?? '';
}

/** Looks at the page as it is now, in light and in dark, which differ in nothing but their colours. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE);
  for (const [colorScheme, rules] of [
    ['light', { type: 'tag', values: WCAG_AA }],
    ['dark', { type: 'rule', values: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await page.evaluate(SETTLED);
    const faults = await page.evaluate(async (runOnly) => {
      const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<any> } };
      const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] });
      return violations.map(({ id, nodes }: any) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
    }, rules);
    expect([colorScheme, faults]).toEqual([colorScheme, []]);
  }
}

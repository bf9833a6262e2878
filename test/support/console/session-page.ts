import { BrowserContext, Page } from 'playwright-core';
import { startProvider, TestProvider } from '../access/provider';
import { startProxyWithSandbox } from '../processes/proxy';
import { startBrowser } from './browser';
import { createPageClient } from './page-scene';
import { PayPage, servePayPage } from './pay-page';

/** The page of `site` that runs the example of the SDK's README. */
export const README_PAGE = 'readme.html';

/**
 * The page of examples/pay-page with a session. The proxy and all pages belong to the site `localhost`, each
 * with a separate origin. The provider belongs to another site.
 */
export interface SessionPage {
  proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  /** The proxy's address for browsers. */
  url: string;
  provider: TestProvider;
  /** The page of the client `wallet`. */
  site: PayPage;
  /** The same page, with an origin of another site. */
  elsewhere: string;
  /** Origin of the client `shop`, whose pages also have sign-ins. */
  neighbour: string;
  /** An origin of no client. */
  unknown: string;
  /** A browser. */
  context: BrowserContext;
  /** The key of a client that settles calls in doubt. */
  reconciler: string;
  close(): Promise<void>;
}

export async function startSessionPage(): Promise<SessionPage> {
  const serve = () => servePayPage('localhost');
  const [site, neighbour, unknown] = await Promise.all([serve(), serve(), serve()]);
  const provider = await startProvider();
  const proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 10_000 });
  await proxy.startWorker();
  const { key: reconciler } = await proxy.client('reconciler', 'reconcile');
  const url = proxy.url.replace('127.0.0.1', 'localhost');
  const elsewhere = site.origin.replace('localhost', '127.0.0.1');
  for (const [name, origins] of Object.entries({
    wallet: [site.origin, elsewhere],
    shop: [neighbour.origin],
  })) {
    const pages = origins.flatMap((origin) => [`${origin}/`, `${origin}/${README_PAGE}`]);
    const options = { origins, atProvider: { post_logout_redirect_uris: pages } };
    await createPageClient({ ...proxy, url }, provider, name, options);
  }
  await proxy.database.query('UPDATE client SET person_daily_cap_usd = 5 WHERE page_issuer IS NOT NULL');
  await site.build({ VITE_PROXY_URL: url, VITE_PROXY_CLIENT: 'wallet' });
  const chromium = await startBrowser();
  const context = await chromium.browser.newContext();
  const close = async () => {
    await chromium.close();
    for (const each of [site, neighbour, unknown]) each.close();
    await proxy.close();
    await provider.stop();
  };
  const origins = { elsewhere, neighbour: neighbour.origin, unknown: unknown.origin };
  return { proxy, url, provider, site, ...origins, context, reconciler, close };
}

/** A request of a page with the browser's cookies. `token` is the CSRF token. Default: none. */
export interface Attempt {
  /** Address of the proxy. */
  url: string;
  path: string;
  body?: string;
  mode?: 'no-cors';
  token?: string;
}

/**
 * Sends a request from a page. @returns status and code, or that the browser hides the answer from the page.
 */
export function attemptFrom(from: Page, tried: Attempt) {
  return from.evaluate(async ({ url, path, body, mode, token }) => {
    const paying = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
    const headers = token === undefined ? {} : { 'X-CSRF-Token': token, ...(body && paying) };
    const method = body === undefined ? 'GET' : 'POST';
    const init = { method, headers, credentials: 'include' as const };
    try {
      const answer = await fetch(`${url}${path}`, { ...init, ...(body && { body }), ...(mode && { mode }) });
      const { code, csrf_token } = (await answer.json()) as Record<string, unknown>;
      return { status: answer.status, code, csrf_token };
    } catch {
      return 'no answer';
    }
  }, tried);
}

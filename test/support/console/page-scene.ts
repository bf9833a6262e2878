import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { RunningConfig } from '../../../src/platform/config/config';
import {
  ProviderClient,
  ProviderOptions,
  PASSWORD,
  publicClient,
  startProvider,
  TestProvider,
} from '../access/provider';
import { Cookies, signInAt } from '../access/provider/flow';
import { open } from '../access/signing-in';
import supertest from '../http/supertest';
import { FakeUpstream } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';

/** Origin of the page, without a server. */
export const PAGE_ORIGIN = 'http://app.proxy.test';
export const PAGE = `${PAGE_ORIGIN}/pay`;

export const AIRTIME = {
  airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }],
};

export interface PageClient {
  id: string;
  name: string;
  /** Internal key of its page sessions. */
  pageKeyId: string;
}

/** A person signed in to a page. */
export interface PageVisitor {
  cookies: Cookies;
  csrfToken: string;
}

export interface PageScene {
  upstream: FakeUpstream;
  provider: TestProvider;
  proxy: TestProxy;
  /** Another instance on the same database. */
  second: TestProxy;
  wallet: PageClient;
  close(): Promise<void>;
}

/** Two instances on one database, and a provider for sign-ins to the pages of the client `wallet`. */
export async function startPageScene(
  settings: Partial<RunningConfig> = {},
  options: ProviderOptions = {},
): Promise<PageScene> {
  const [upstream, provider] = await Promise.all([FakeUpstream.start(), startProvider(options)]);
  const all = { upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'], ...settings };
  const proxy = await startProxy(all);
  const second = await startProxy(all, proxy.database);
  const wallet = await createPageClient(proxy, provider, 'wallet');
  const close = async () => {
    await second.close();
    await proxy.close();
    await Promise.all([upstream.stop(), provider.stop()]);
  };
  return { upstream, provider, proxy, second, wallet, close };
}

interface PageClientOptions {
  scopes?: Scope[];
  origins?: string[];
  /** Deviations of its client at the provider. */
  atProvider?: Partial<ProviderClient>;
}

/** Creates a client with sign-ins to its pages, and its client at the provider. */
export async function createPageClient(
  { database, url }: TestProxy,
  provider: Pick<TestProvider, 'issuer' | 'addClient'>,
  name: string,
  { scopes = ['pay', 'write', 'read'], origins = [PAGE_ORIGIN], atProvider = {} }: PageClientOptions = {},
): Promise<PageClient> {
  const [id, pageKeyId] = [uuidv7(), uuidv7()];
  await database.query(
    `INSERT INTO client (id, name, kind, scopes, origins, page_issuer, page_client_id)
      VALUES ($1, $2, 'public', $3, $4, $5, $6)`,
    [id, name, scopes, origins, provider.issuer, `${name}-pages`],
  );
  await database.query(
    "INSERT INTO api_key (id, client_id, kind, sha256, hint) VALUES ($1, $2, 'page', $3, '')",
    [pageKeyId, id, randomBytes(32)],
  );
  await provider.addClient({
    ...publicClient(`${name}-pages`, `${url}/session/pages/${name}/callback`),
    post_logout_redirect_uris: [PAGE],
    backchannel_logout_uri: `${url}/session/backchannel-logout`,
    backchannel_logout_session_required: true,
    ...atProvider,
  });
  return { id, name, pageKeyId };
}

/** Begins a sign-in. @returns the unvisited address of the callback. */
export async function approachPageCallback(
  url: string,
  sub: string,
  { client = 'wallet', returnTo = PAGE, cookies = new Cookies() } = {},
): Promise<{ cookies: Cookies; callback: string }> {
  const pages = `${url}/session/pages/${client}`;
  const from = `${pages}/sign-in?return_to=${encodeURIComponent(returnTo)}`;
  const { href: callback } = await signInAt(from, `${pages}/callback`, { sub, password: PASSWORD }, cookies);
  return { cookies, callback };
}

/** Signs a person in to a page. */
export async function signInToPage(
  url: string,
  sub: string,
  options: Parameters<typeof approachPageCallback>[2] = {},
): Promise<PageVisitor> {
  const { cookies, callback } = await approachPageCallback(url, sub, options);
  const { status, page, location } = await open(cookies, callback);
  if (status !== 303) throw new Error(`not signed in: ${status} ${page}`);
  expect(location).toBe(options.returnTo ?? PAGE);
  const { body } = await readPageSession(url, cookies, options.client).expect(200);
  return { cookies, csrfToken: String(body.csrf_token) };
}

export const readPageSession = (url: string, cookies: Cookies, client = 'wallet') =>
  supertest(url)
    .get(`/v1/page-sessions/${client}`)
    .set({ Cookie: cookies.header, Origin: PAGE_ORIGIN, 'Sec-Fetch-Site': 'same-site' });

/** Headers of a page's request. */
export const ofPage = ({ cookies, csrfToken }: PageVisitor) => ({
  Cookie: cookies.header,
  'X-CSRF-Token': csrfToken,
  Origin: PAGE_ORIGIN,
  'Sec-Fetch-Site': 'same-site',
});

export const payOnPage = (url: string, visitor: PageVisitor, headers: Record<string, string> = {}) =>
  supertest(url)
    .post('/api/v0.1/payouts/airtime')
    .set({ ...ofPage(visitor), ...headers })
    .send(AIRTIME);

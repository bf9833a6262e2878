import { ClientsService } from '../../../src/access/clients/clients.service';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { RunningConfig } from '../../../src/platform/config/config';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { FakeUpstream } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';
import { confidentialClient, PASSWORD, ProviderOptions, startProvider, TestProvider } from './provider';
import { Cookies, signInAt, visit } from './provider/flow';

const CLIENT_SECRET = 'the-secret-of-the-proxy-at-the-provider';

/** A browser without scripts: it keeps cookies and follows redirects. */
export interface Visitor {
  cookies: Cookies;
  /** CSRF token of its session. */
  csrfToken: string;
}

export interface SignInScene {
  proxy: TestProxy;
  provider: TestProvider;
  upstream: FakeUpstream;
  /** Creates a client, and lets a person sign in as it. @returns the ID of the person's key. */
  allow(person: string, client: string, ...scopes: Scope[]): Promise<string>;
  close(): Promise<void>;
}

/** Starts a proxy with sign-ins at a real provider. */
export async function startSignInScene(
  settings: Partial<RunningConfig> = {},
  options: ProviderOptions = {},
): Promise<SignInScene> {
  const provider = await startProvider(options);
  const upstream = await FakeUpstream.start();
  const proxy = await startProxy({
    upstreamBaseUrl: upstream.url,
    ...atProvider(provider.issuer),
    ...settings,
  });
  await provider.addClient(consoleClient(proxy.url));
  const clients = proxy.app.get(ClientsService, { strict: false });
  return {
    proxy,
    provider,
    upstream,
    allow: async (person, client, ...scopes) => {
      await clients.create(client, scopes);
      return (await clients.allowSignIn(client, { issuer: provider.issuer, subject: person, person })).id;
    },
    close: async () => {
      await proxy.close();
      await upstream.stop();
      await provider.stop();
    },
  };
}

/** Returns the settings of a proxy with a provider. */
export function atProvider(issuer: string): Pick<RunningConfig, 'openIdProvider' | 'keySignIn'> {
  const clientSecret = new Secret(CLIENT_SECRET);
  return {
    openIdProvider: { issuer, clientId: 'console', clientSecret, scopes: ['openid'] },
    keySignIn: false,
  };
}

/** Returns the proxy's client at the provider. */
function consoleClient(url: string) {
  return {
    ...confidentialClient('console', CLIENT_SECRET, `${url}/session/callback`),
    post_logout_redirect_uris: [`${url}/console`],
    backchannel_logout_uri: `${url}/session/backchannel-logout`,
    backchannel_logout_session_required: true,
  };
}

/** Begins a sign-in. @returns the address of the callback, which is not visited. */
export async function approachCallback(
  url: string,
  sub: string,
  { from = '/session/sign-in', secondFactor = false, cookies = new Cookies() } = {},
): Promise<{ cookies: Cookies; callback: string }> {
  const account = { sub, password: PASSWORD, secondFactor };
  const { href: callback } = await signInAt(`${url}${from}`, `${url}/session/callback`, account, cookies);
  return { cookies, callback };
}

/** Returns an address with changed parameters. Undefined removes one. */
export function changed(address: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

/** Visits an address with a visitor's cookies, without following redirects. */
export async function open(
  cookies: Cookies,
  address: string,
): Promise<{ status: number; page: string; location: string | null; cookies: string[] }> {
  const answer = await fetch(address, { headers: { cookie: cookies.header }, redirect: 'manual' });
  cookies.keep(answer);
  const [page, location] = [await answer.text(), answer.headers.get('location')];
  return { status: answer.status, page, location, cookies: answer.headers.getSetCookie() };
}

/** Signs a person in. */
export async function signInAs(
  url: string,
  sub: string,
  options: Parameters<typeof approachCallback>[2] = {},
): Promise<Visitor & { page: string }> {
  const { cookies, callback } = await approachCallback(url, sub, options);
  const { status, page } = await open(cookies, callback);
  if (status !== 200) throw new Error(`not signed in: ${status} ${page}`);
  const session = await fetch(`${url}/v1/session`, { headers: { cookie: cookies.header } });
  const { csrf_token: csrfToken } = (await session.json()) as { csrf_token: string };
  return { cookies, csrfToken, page };
}

/** Returns the provider's cookies of a browser, without those of the proxy. */
export function cookiesAtProvider({ values }: Cookies): Cookies {
  const cookies = new Cookies();
  for (const [name, value] of values) if (!name.startsWith('payout_proxy')) cookies.values.set(name, value);
  return cookies;
}

/** Ends a session. @returns the address at which the browser signs out at the provider. */
export async function endSession(
  address: string,
  cookies: Cookies,
  headers: Record<string, string>,
): Promise<{ endSessionUrl: string; text: string }> {
  const answer = await fetch(address, { method: 'DELETE', headers: { ...headers, cookie: cookies.header } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`not signed out: ${answer.status} ${text}`);
  cookies.keep(answer);
  return { endSessionUrl: String((JSON.parse(text) as { end_session_url: unknown }).end_session_url), text };
}

/** Signs a visitor out at the provider, and confirms it there. */
export async function signOutAt(endSessionUrl: string, cookies: Cookies): Promise<void> {
  const { page, url } = await visit(cookies, endSessionUrl, () => false);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  await visit(
    cookies,
    `${new URL(url).origin}/session/end/confirm`,
    (reached) => reached.endsWith('/console'),
    {
      xsrf,
      logout: 'yes',
    },
  );
}

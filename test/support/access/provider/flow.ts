import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, type GenerateKeyPairResult, type JWK, SignJWT } from 'jose';
import type { ProviderClient } from '../provider';

export interface TokenRequest {
  client: ProviderClient;
  /** The account. */
  sub: string;
  /** Default: `openid` and all scopes of the test's resource. */
  scope?: string;
  /** Audience of the access token. */
  resource?: string;
  /** ES256 key pair that the access token is bound to. */
  dpop?: GenerateKeyPairResult;
  /** Signs in with a second factor. */
  secondFactor?: boolean;
}

export interface Tokens {
  access_token: string;
  token_type: string;
  expires_in: number;
  id_token?: string;
  refresh_token?: string;
  scope: string;
}

/** Cookies of one visitor. */
export class Cookies {
  readonly values = new Map<string, string>();

  get header(): string {
    return [...this.values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  keep(answer: Response): void {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) this.values.delete(name);
      else this.values.set(name, value);
    }
  }
}

/** Follows redirects with a visitor's cookies, until a page or the client's redirect URI. */
export async function visit(
  cookies: Cookies,
  from: string,
  isDone: (url: string) => boolean,
  form?: Record<string, string>,
): Promise<{ url: string; page: string }> {
  let url = from;
  let body = form && new URLSearchParams(form);
  for (;;) {
    if (isDone(url)) return { url, page: '' };
    const answer: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: cookies.header },
      ...(body && { method: 'POST', body }),
    });
    cookies.keep(answer);
    const location = answer.headers.get('location');
    const page = await answer.text();
    if (location === null) return { url, page };
    url = new URL(location, url).href;
    body = undefined;
  }
}

/** Signs in at a provider like a browser. @returns the redirect URI with its parameters. */
export async function signInAt(
  authorizationUrl: string,
  redirectUri: string,
  account: { sub: string; password: string; secondFactor?: boolean | undefined },
  cookies = new Cookies(),
): Promise<URL> {
  const isDone = (url: string) => url.startsWith(redirectUri);
  let { url, page } = await visit(cookies, authorizationUrl, isDone);
  if (!isDone(url)) {
    const form = {
      username: account.sub,
      password: account.password,
      ...(account.secondFactor && { code: '123456' }),
    };
    ({ url, page } = await visit(cookies, url, isDone, form));
  }
  if (!isDone(url)) throw new Error(`sign-in failed at ${url}: ${page}`);
  return new URL(url);
}

/** Obtains tokens by Authorization Code with PKCE. */
export async function obtainTokens(issuer: string, request: TokenRequest, password: string): Promise<Tokens> {
  const { client, sub, scope = 'openid pay write read', resource, dpop, secondFactor } = request;
  const [redirectUri = ''] = client.redirect_uris;
  const verifier = randomBytes(32).toString('base64url');
  const authorization = new URL(`${issuer}/auth`);
  authorization.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state: 'state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(resource !== undefined && { resource }),
  }).toString();
  const callback = await signInAt(authorization.href, redirectUri, { sub, password, secondFactor });
  const code = callback.searchParams.get('code');
  if (code === null) throw new Error(`the provider sent no code: ${callback.search}`);
  return exchange(`${issuer}/token`, client, dpop, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...(resource !== undefined && { resource }),
  });
}

async function exchange(
  endpoint: string,
  client: ProviderClient,
  dpop: TokenRequest['dpop'],
  form: Record<string, string>,
): Promise<Tokens> {
  const { client_id: id, client_secret: secret } = client;
  const body = new URLSearchParams(secret === undefined ? { ...form, client_id: id } : form);
  const answer = await fetch(endpoint, {
    method: 'POST',
    body,
    headers: {
      ...(secret !== undefined && { authorization: `Basic ${btoa(`${id}:${secret}`)}` }),
      ...(dpop && { dpop: await dpopProof(dpop, 'POST', endpoint) }),
    },
  });
  const tokens = (await answer.json()) as Tokens & { error?: string; error_description?: string };
  if (!answer.ok) throw new Error(`no tokens: ${tokens.error}: ${tokens.error_description}`);
  return tokens;
}

/**
 * Creates a proof of possession (RFC 9449).
 * @param accessToken the token that the proof accompanies.
 * @param changed forged claims.
 */
async function dpopProof(
  { privateKey, publicKey }: GenerateKeyPairResult,
  method: string,
  url: string,
  accessToken?: string,
  changed: Record<string, unknown> = {},
): Promise<string> {
  const jwk: JWK = await exportJWK(publicKey);
  const { origin, pathname } = new URL(url);
  return new SignJWT({
    htm: method,
    htu: `${origin}${pathname}`,
    jti: randomBytes(16).toString('base64url'),
    ...(accessToken !== undefined && { ath: createHash('sha256').update(accessToken).digest('base64url') }),
    ...changed,
  })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
    .setIssuedAt()
    .sign(privateKey);
}

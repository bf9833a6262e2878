import { PayoutProxy } from '@payout-proxy/sdk';
import type { SignIn } from './sign-in.ts';

/** The OpenID provider, and the page's client there. */
export interface Provider {
  issuer: string;
  clientId: string;
  /** Audience of the access token: the proxy (RFC 8707). */
  resource: string;
  scope: string;
}

/** Tokens in memory, which end with the page. */
interface Tokens {
  access_token: string;
  id_token?: string;
  refresh_token?: string;
}

/** State of this page while the visitor is at the provider. */
interface PendingSignIn {
  state: string;
  verifier: string;
}

const PENDING = 'sign-in';

/** Sign-in by the page, without a secret (RFC 10017): Authorization Code with PKCE (RFC 7636). */
export class TokenSignIn implements SignIn {
  readonly client: PayoutProxy;
  private tokens: Tokens | undefined;

  constructor(
    baseUrl: string,
    private readonly provider: Provider,
  ) {
    const accessToken = () => this.tokens?.access_token ?? '';
    this.client = new PayoutProxy({ baseUrl, accessToken, refresh: () => this.renew() });
  }

  async begin(): Promise<void> {
    const pending: PendingSignIn = { state: randomText(), verifier: randomText() };
    sessionStorage.setItem(PENDING, JSON.stringify(pending));
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
    const { authorization_endpoint } = await this.endpoints();
    const { clientId, resource, scope } = this.provider;
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri(),
      response_type: 'code',
      scope,
      resource,
      state: pending.state,
      code_challenge: base64Url(new Uint8Array(digest)),
      code_challenge_method: 'S256',
    });
    location.assign(`${authorization_endpoint}?${query.toString()}`);
  }

  /** Removes the provider's answer from the address, and redeems it. */
  async visitor(): Promise<string | undefined> {
    const answer = new URLSearchParams(location.search);
    const code = answer.get('code');
    const { state, verifier } = JSON.parse(sessionStorage.getItem(PENDING) ?? '{}') as Partial<PendingSignIn>;
    sessionStorage.removeItem(PENDING);
    if (code === null) return undefined;
    history.replaceState(null, '', redirectUri());
    // A foreign state is an attempt to sign the visitor in as another person (RFC 6749, section 10.12).
    if (verifier === undefined || state !== answer.get('state')) return undefined;
    this.tokens = await this.ask({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      code_verifier: verifier,
    });
    return subjectOf(this.tokens);
  }

  /** Obtains another access token. Without a refresh token, the visitor signs in again. */
  private async renew(): Promise<void> {
    const refresh_token = this.tokens?.refresh_token;
    if (refresh_token === undefined) return this.begin();
    this.tokens = { refresh_token, ...(await this.ask({ grant_type: 'refresh_token', refresh_token })) };
  }

  private async ask(form: Record<string, string>): Promise<Tokens> {
    const { clientId, resource } = this.provider;
    const body = new URLSearchParams({ ...form, client_id: clientId, resource });
    const response = await fetch((await this.endpoints()).token_endpoint, { method: 'POST', body });
    if (!response.ok) throw new Error('The provider issued no tokens. Sign in again.');
    return (await response.json()) as Tokens;
  }

  private async endpoints() {
    const response = await fetch(`${this.provider.issuer}/.well-known/openid-configuration`);
    return (await response.json()) as { authorization_endpoint: string; token_endpoint: string };
  }
}

const redirectUri = () => `${location.origin}${location.pathname}`;

const randomText = () => base64Url(crypto.getRandomValues(new Uint8Array(32)));

/** Returns the visitor's ID. The token needs no verification, because the provider itself sent it. */
function subjectOf({ id_token = '' }: Tokens): string {
  const claims = id_token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  return (JSON.parse(atob(claims)) as { sub: string }).sub;
}

const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

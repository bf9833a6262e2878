import { PayoutProxy } from '@payout-proxy/sdk';
import type { SignIn } from './sign-in.ts';

/** The OpenID provider, and the page's client there. */
export interface Provider {
  issuer: string;
  clientId: string;
  /** The audience of the access token: the proxy (RFC 8707). */
  resource: string;
  scope: string;
}

/** Tokens stay in memory, so that they end with the page. */
interface Tokens {
  access_token: string;
  id_token?: string;
  refresh_token?: string;
}

/** What this page keeps while the visitor is at the provider. */
interface Pending {
  state: string;
  verifier: string;
}

const PENDING = 'sign-in';

/**
 * Sign-in by the page itself: Authorization Code with PKCE (RFC 7636), for a page without a secret (RFC
 * 10017).
 */
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
    const pending: Pending = { state: randomText(), verifier: randomText() };
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

  /** Takes the provider's answer out of the address, if there is one. */
  async visitor(): Promise<string | undefined> {
    const answer = new URLSearchParams(location.search);
    const code = answer.get('code');
    const { state, verifier } = JSON.parse(sessionStorage.getItem(PENDING) ?? '{}') as Partial<Pending>;
    sessionStorage.removeItem(PENDING);
    if (code === null) return undefined;
    history.replaceState(null, '', redirectUri());
    // Otherwise somebody else has sent the visitor here, to sign them in as another person.
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
    if (!response.ok) throw new Error('The provider gave no tokens. Sign in again.');
    return (await response.json()) as Tokens;
  }

  private async endpoints() {
    const response = await fetch(`${this.provider.issuer}/.well-known/openid-configuration`);
    return (await response.json()) as { authorization_endpoint: string; token_endpoint: string };
  }
}

const redirectUri = () => `${location.origin}${location.pathname}`;

const randomText = () => base64Url(crypto.getRandomValues(new Uint8Array(32)));

/**
 * The provider's ID of the visitor. The token comes from the provider itself, so the page need not verify it.
 */
const subjectOf = ({ id_token = '' }: Tokens) =>
  (
    JSON.parse(atob(id_token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '')) as {
      sub: string;
    }
  ).sub;

const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

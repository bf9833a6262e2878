import { createHash } from 'node:crypto';
import type * as openid from 'openid-client';
import { NewSignIn } from '../../access/sessions/session-life';
import { Secret } from '../../platform/config/secret';
import { StepUpConfig } from '../../platform/config/sign-in-config';
import { LogoutToken, verifyLogoutToken } from './logout-token';
import { asSignInFailure, SignInFailure } from './sign-in-failure';
import { nonceOf, stateOf, Transaction, verifierOf } from './transaction';

/** Longer than a provider needs, and shorter than people wait. */
const TIMEOUT_SECONDS = 5;

/** How long the provider's description of itself counts. A failure forgets it, too. */
const KNOWN_FOR_MS = 3_600_000;

/** The most questions to the provider at once, so that a flood of sign-ins does not become one of the provider. */
const MAX_AT_ONCE = 32;

/** Who signed in, and how. */
export interface Identified extends NewSignIn {
  issuer: string;
  subject: string;
}

/** How the proxy is registered at a provider. */
export interface Registration {
  issuer: string;
  clientId: string;
  /** Returns the present secret. Undefined for a public client. */
  secret: () => Secret | undefined;
  scopes: readonly string[];
}

/** What a sign-in must be like. */
export type Strength = Pick<StepUpConfig, 'maxAgeSeconds' | 'acrValues'>;

/** An OpenID provider. It signs people in by Authorization Code with PKCE, and out again. */
export class OpenIdProvider {
  private known: { since: number; configuration: Promise<openid.Configuration> } | undefined;
  private asked = 0;

  constructor(readonly registration: Registration) {}

  /** Returns the address at the provider where a person signs in. @throws SignInFailure */
  async authorizationUrl(transaction: Transaction, redirectUri: string, strength?: Strength): Promise<string> {
    const { maxAgeSeconds, acrValues = [] } = strength ?? {};
    return this.asking(({ buildAuthorizationUrl }, configuration) => {
      const verifier = verifierOf(transaction);
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: this.registration.scopes.join(' '),
        state: stateOf(transaction),
        nonce: nonceOf(transaction),
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...(maxAgeSeconds !== undefined && { max_age: String(maxAgeSeconds) }),
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
      }).href;
    });
  }

  /**
   * Completes a sign-in. It verifies `state`, `iss` (RFC 9207), and the ID token with its signature, `nonce` and `auth_time`.
   * @param callback the redirect URI with what the provider added to it.
   * @throws SignInFailure
   */
  async complete(callback: URL, transaction: Transaction, strength?: Strength): Promise<Identified> {
    const identified = await this.asking((library, configuration) =>
      exchange(library, configuration, { callback, transaction, maxAge: strength?.maxAgeSeconds }),
    );
    const { acrValues = [] } = strength ?? {};
    const isStrong = acrValues.length === 0 || (identified.acr !== null && acrValues.includes(identified.acr));
    if (!isStrong) throw new SignInFailure('too_weak');
    return identified;
  }

  /** Returns the address at the provider where a person signs out. Undefined if it has none, or cannot be reached. */
  async endSessionUrl(idToken: string, returnTo?: string): Promise<string | undefined> {
    return this.asking(({ buildEndSessionUrl }, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const back = returnTo === undefined ? {} : { post_logout_redirect_uri: returnTo };
      return buildEndSessionUrl(configuration, { id_token_hint: idToken, ...back }).href;
    }).catch(() => undefined);
  }

  /** Verifies that the provider has ended a session (OpenID Connect Back-Channel Logout 1.0). @throws SignInFailure */
  async loggedOut(token: string): Promise<LogoutToken> {
    return this.asking(async (_library, configuration) => {
      const { issuer, jwks_uri: jwksUri } = configuration.serverMetadata();
      const audience = configuration.clientMetadata().client_id;
      return verifyLogoutToken(token, { issuer, audience, jwksUri: jwksUri ?? '' });
    });
  }

  private async asking<Result>(
    ask: (library: typeof openid, configuration: openid.Configuration) => Result | Promise<Result>,
  ): Promise<Result> {
    if (this.asked >= MAX_AT_ONCE) throw new SignInFailure('unreachable');
    this.asked += 1;
    try {
      const library = await import('openid-client'); // Most processes never sign anybody in.
      return await ask(library, await this.configuration(library));
    } catch (error) {
      this.known = undefined; // its keys or addresses may be new
      throw asSignInFailure(error);
    } finally {
      this.asked -= 1;
    }
  }

  private configuration(library: typeof openid): Promise<openid.Configuration> {
    const now = performance.now();
    if (this.known && now - this.known.since < KNOWN_FOR_MS) return this.known.configuration;
    this.known = { since: now, configuration: this.discover(library) };
    return this.known.configuration;
  }

  private async discover(library: typeof openid): Promise<openid.Configuration> {
    const { issuer, clientId, secret } = this.registration;
    const { discovery, allowInsecureRequests, enableNonRepudiationChecks } = library;
    const authenticate: openid.ClientAuth = (as, client, body, headers) =>
      authenticationOf(library, as, secret())(as, client, body, headers);
    return discovery(new URL(issuer), clientId, undefined, authenticate, {
      timeout: TIMEOUT_SECONDS,
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    });
  }
}

function authenticationOf(
  { None, ClientSecretBasic, ClientSecretPost }: typeof openid,
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: openid.ServerMetadata,
  secret: Secret | undefined,
): openid.ClientAuth {
  if (secret === undefined) return None();
  const text = secret.reveal();
  return methods.includes('client_secret_basic') ? ClientSecretBasic(text) : ClientSecretPost(text);
}

async function exchange(
  { authorizationCodeGrant }: typeof openid,
  configuration: openid.Configuration,
  { callback, transaction, maxAge }: { callback: URL; transaction: Transaction; maxAge: number | undefined },
): Promise<Identified> {
  const tokens = await authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: verifierOf(transaction),
    expectedState: stateOf(transaction),
    expectedNonce: nonceOf(transaction),
    idTokenExpected: true,
    ...(maxAge !== undefined && { maxAge }),
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new SignInFailure('invalid');
  const { iss: issuer, sub: subject, auth_time: at, acr, sid } = claims;
  return {
    issuer,
    subject,
    at: typeof at === 'number' ? new Date(at * 1_000) : null,
    acr: typeof acr === 'string' ? acr : null,
    sid: typeof sid === 'string' ? sid : null,
    idToken: tokens.id_token ?? '',
  };
}

import { createHash } from 'node:crypto';
import { compactVerify } from 'jose';
import type * as openid from 'openid-client';
import { NewSignIn } from '../../access/sessions/session-life';
import { isTokenText, SKEW_SECONDS } from '../../access/tokens/access-token';
import { ProviderKeys } from '../../access/tokens/provider-keys';
import { Secret } from '../../platform/config/secrets/secret';
import { StepUpConfig } from '../../platform/config/sign-in-config';
import { clock } from '../../platform/database/clock';
import { Egress } from '../../platform/network/egress';
import { LogoutToken, verifyLogoutToken, verifyWith } from './provider-tokens';
import { asSignInFailure, SignInFailure } from './sign-in-failure';
import { nonceOf, stateOf, Transaction, verifierOf } from './transaction';

/** Timeout of a provider. Above its usual answer time, below people's patience. */
const TIMEOUT_SECONDS = 5;

/** Cache time of the provider's metadata. */
const KNOWN_FOR_MS = 3_600_000;

/** Maximum number of concurrent completions, so a flood of sign-ins does not flood the provider. */
const MAX_AT_ONCE = 32;

/** The provider's metadata, and the keys of its logout tokens. */
interface CachedProvider {
  since: number;
  metadata: Promise<openid.ServerMetadata>;
  logoutKeys?: ProviderKeys;
}

/** A completed sign-in, with its identity. */
export interface CompletedSignIn extends NewSignIn {
  issuer: string;
  subject: string;
}

/** The proxy's registration at a provider. */
export interface Registration {
  issuer: string;
  clientId: string;
  /** Returns the current secret. Undefined for a public client. */
  secret: () => Secret | undefined;
  scopes: readonly string[];
}

/** The provider's answer to a sign-in. */
interface Callback {
  callback: URL;
  transaction: Transaction;
  maxAge: number | undefined;
}

/** Required strength of a sign-in. */
export type Strength = Pick<StepUpConfig, 'maxAgeSeconds' | 'acrValues'>;

/** An OpenID provider. Signs people in by Authorization Code with PKCE, and signs them out. */
export class OpenIdProvider {
  private known: CachedProvider | undefined;
  private completing = 0;

  constructor(
    readonly registration: Registration,
    private readonly egress: Egress,
  ) {}

  /** Returns the URL of the sign-in at the provider. @throws SignInFailure */
  async authorizationUrl(
    transaction: Transaction,
    redirectUri: string,
    strength?: Strength,
  ): Promise<string> {
    const { maxAgeSeconds, acrValues = [] } = strength ?? {};
    return this.withLibrary(({ buildAuthorizationUrl }, configuration) => {
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
   * Completes a sign-in. Verifies `state`, `iss` (RFC 9207), and the ID token with its signature, `nonce` and
   * time.
   * @param callback the redirect URI with the provider's parameters.
   * @throws SignInFailure
   */
  async complete(callback: URL, transaction: Transaction, strength?: Strength): Promise<CompletedSignIn> {
    if (this.completing >= MAX_AT_ONCE) throw new SignInFailure('unreachable');
    this.completing += 1;
    const identified = await this.withLibrary((library, configuration) =>
      this.exchange(library, configuration, { callback, transaction, maxAge: strength?.maxAgeSeconds }),
    ).finally(() => (this.completing -= 1));
    const { acrValues = [] } = strength ?? {};
    const isStrong =
      acrValues.length === 0 || (identified.acr !== null && acrValues.includes(identified.acr));
    if (!isStrong) throw new SignInFailure('too_weak');
    return identified;
  }

  /** Returns the URL of the sign-out at the provider. Undefined if it has none or is unreachable. */
  async endSessionUrl(idToken?: string, returnTo?: string): Promise<string | undefined> {
    return this.withLibrary(({ buildEndSessionUrl }, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(configuration, {
        ...(idToken !== undefined && { id_token_hint: idToken }),
        ...(returnTo !== undefined && { post_logout_redirect_uri: returnTo }),
      }).href;
    }).catch(() => undefined);
  }

  /**
   * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0). Forged tokens cause no requests.
   * @throws SignInFailure
   */
  async readLogoutToken(token: string): Promise<LogoutToken> {
    return this.withLibrary(async (_library, _configuration, known) => {
      const metadata = await known.metadata;
      known.logoutKeys ??= this.keysOf(metadata);
      const { issuer } = metadata;
      return verifyLogoutToken(token, known.logoutKeys, { issuer, audience: this.registration.clientId });
    });
  }

  private async exchange(
    { authorizationCodeGrant }: typeof openid,
    configuration: openid.Configuration,
    { callback, transaction, maxAge }: Callback,
  ): Promise<CompletedSignIn> {
    const tokens = await authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifierOf(transaction),
      expectedState: stateOf(transaction),
      expectedNonce: nonceOf(transaction),
      idTokenExpected: true,
      ...(maxAge !== undefined && { maxAge }),
    });
    const { id_token: idToken = '' } = tokens;
    const keys = this.keysOf(configuration.serverMetadata()); // not cached, so new keys count at once
    await verifyWith(keys, idToken, (key) => compactVerify(idToken, key));
    const claims = tokens.claims();
    if (claims === undefined) throw new SignInFailure('invalid');
    const { iss: issuer, sub: subject, auth_time: at, acr, sid, azp, iat } = claims;
    const isForUs = azp === undefined || azp === configuration.clientMetadata().client_id;
    const isFromNow = iat <= clock.nowMs() / 1_000 + SKEW_SECONDS;
    if (!isTokenText(subject) || !isForUs || !isFromNow) throw new SignInFailure('invalid');
    return {
      issuer,
      subject,
      // A clock of the provider ahead of ours would prolong the proof.
      at: typeof at === 'number' ? new Date(Math.min(at * 1_000, clock.nowMs())) : null,
      acr: typeof acr === 'string' ? acr : null,
      sid: typeof sid === 'string' ? sid : null,
      idToken,
    };
  }

  /** @throws SignInFailure if they cannot be read safely. */
  private keysOf({ issuer, jwks_uri: jwksUri = '' }: openid.ServerMetadata): ProviderKeys {
    if (!jwksUri.startsWith('https:') && !issuer.startsWith('http:')) throw new SignInFailure('invalid');
    return new ProviderKeys(jwksUri, KNOWN_FOR_MS, this.egress);
  }

  private async withLibrary<Result>(
    ask: (
      library: typeof openid,
      configuration: openid.Configuration,
      known: CachedProvider,
    ) => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      const library = await import('openid-client'); // most processes never need it
      const known = this.discover(library);
      return await ask(library, this.configure(library, await known.metadata), known);
    } catch (error) {
      const failure = asSignInFailure(error);
      if (failure.kind === 'unreachable') this.known = undefined; // its addresses may be new
      throw failure;
    }
  }

  private discover({ discovery, allowInsecureRequests, customFetch }: typeof openid): CachedProvider {
    const now = performance.now();
    if (this.known && now - this.known.since < KNOWN_FOR_MS) return this.known;
    const { issuer, clientId } = this.registration;
    const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
    const metadata = discovery(new URL(issuer), clientId, undefined, undefined, {
      timeout: TIMEOUT_SECONDS,
      execute,
      [customFetch]: this.egress.fetch as openid.CustomFetch,
    }).then((configuration) => requireIssuer(configuration.serverMetadata(), issuer));
    const known = { since: now, metadata };
    metadata.catch(() => {
      if (this.known === known) this.known = undefined;
    });
    this.known = known;
    return known;
  }

  /** Returns the configuration of one sign-in, with the current secret. */
  private configure(library: typeof openid, metadata: openid.ServerMetadata): openid.Configuration {
    const { issuer, clientId, secret } = this.registration;
    const authentication = authenticationOf(library, metadata, secret());
    const configuration = new library.Configuration(metadata, clientId, undefined, authentication);
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[library.customFetch] = this.egress.fetch as openid.CustomFetch;
    if (issuer.startsWith('http:')) library.allowInsecureRequests(configuration);
    return configuration;
  }
}

/**
 * Requires that the provider's issuer equals the configured one exactly. The library accepts other spellings
 * and multi-tenant issuers. Persons and their limits are found by the issuer.
 * @throws SignInFailure
 */
function requireIssuer(metadata: openid.ServerMetadata, issuer: string): openid.ServerMetadata {
  if (metadata.issuer === issuer) return { ...metadata };
  throw new SignInFailure('other_issuer');
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

import { ClientError } from './client-error';
import { GrantField } from './limit-fields';
import { placeField, wordField } from './provider-field';

/**
 * The identity provider whose access tokens a client takes (RFC 9068). Either all fields except `tokenDpop` are set, or
 * none: then the client takes no tokens.
 */
export interface TokenProvider {
  /** As its tokens name it (`iss`). */
  tokenIssuer: string | null;
  /** As its tokens name this API (`aud`). */
  tokenAudience: string | null;
  /** The address of the provider's public keys. */
  tokenJwksUri: string | null;
  /** The signature algorithms that its tokens may have. */
  tokenAlgorithms: string[];
  /** The app at the provider (`client_id`). Together with the issuer, it belongs to one client only. */
  tokenClientId: string | null;
  /** Whether a token must be bound to a key of the app (DPoP, RFC 9449). */
  tokenDpop: boolean;
}

/** All are asymmetric: with a symmetric algorithm, whoever checks tokens could make them. */
export const TOKEN_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'Ed25519',
] as const;

/** The algorithms of a provider if nobody names others. */
const USUAL_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA'];

export const NO_PROVIDER: TokenProvider = {
  tokenIssuer: null,
  tokenAudience: null,
  tokenJwksUri: null,
  tokenAlgorithms: [],
  tokenClientId: null,
  tokenDpop: false,
};

export const PROVIDER_FIELDS = {
  tokenIssuer: placeField('token_issuer'),
  tokenAudience: wordField('token_audience'),
  tokenJwksUri: placeField('token_jwks_uri'),
  tokenAlgorithms: {
    name: 'token_algorithms',
    column: 'text[]',
    must: `must be a list of some of ${TOKEN_ALGORITHMS.join(', ')}`,
    test: (value) =>
      Array.isArray(value) &&
      new Set(value).size === value.length &&
      value.every((one) => TOKEN_ALGORITHMS.some((known) => known === one)),
  },
  tokenClientId: wordField('token_client_id'),
  tokenDpop: {
    name: 'token_dpop',
    column: 'boolean',
    must: 'must be true or false',
    test: (value) => typeof value === 'boolean',
  },
} satisfies Record<keyof TokenProvider, GrantField>;

export const PROVIDER_KEYS = Object.keys(PROVIDER_FIELDS) as (keyof TokenProvider)[];

/**
 * Completes a change of a provider. Without an issuer, a client has no provider. A new provider has the usual algorithms,
 * unless the change names others.
 * @throws ClientError that names the missing fields.
 */
export function completeProvider<Change extends Partial<TokenProvider>>(before: TokenProvider, change: Change): Change {
  if (PROVIDER_KEYS.every((key) => change[key] === undefined)) return change;
  if (change.tokenIssuer === null) return { ...change, ...NO_PROVIDER };
  const completed = { ...(before.tokenIssuer === null && { tokenAlgorithms: USUAL_ALGORITHMS }), ...change };
  const after = { ...before, ...completed };
  const missing = PROVIDER_KEYS.filter((key) => isMissing(after[key])).map((key) => PROVIDER_FIELDS[key].name);
  if (missing.length === 0) return completed;
  const faults = missing.map((name) => ({
    pointer: `/${name}`,
    detail: 'is required for a client that takes access tokens. To take none, set token_issuer to null',
  }));
  throw new ClientError(`a client that takes access tokens needs ${missing.join(', ')}, too`, undefined, faults);
}

function isMissing(value: TokenProvider[keyof TokenProvider]): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** Returns the changed fields that let a client take tokens that it did not take before, by the names of the API. */
export function providerWidenings(before: TokenProvider, after: TokenProvider): string[] {
  if (after.tokenIssuer === null) return [];
  // Without a provider, a client takes no tokens that are not bound either.
  const was = before.tokenIssuer === null ? { ...before, tokenDpop: true } : before;
  const changed = PROVIDER_KEYS.filter((key) => JSON.stringify(was[key]) !== JSON.stringify(after[key]));
  return changed.filter((key) => key !== 'tokenDpop' || was.tokenDpop).map((key) => PROVIDER_FIELDS[key].name);
}

import { GrantField } from './limit-fields';
import { placeField, wordField } from './provider-field';

/**
 * The identity provider whose access tokens a client takes (RFC 9068). Either all fields except the optional ones are set,
 * or none: then the client takes no tokens.
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
  /** Seconds after which a token ends, counted from when it was issued (`iat`). It ends at its `exp`, if that is earlier. */
  tokenMaxAge: number;
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

/** A day. Tokens that live longer are almost always a mistake in the provider's settings. */
export const USUAL_MAX_AGE = 86_400;
export const MIN_MAX_AGE = 60;
/** A year. */
export const MAX_MAX_AGE = 31_536_000;

export const NO_TOKEN_PROVIDER: TokenProvider = {
  tokenIssuer: null,
  tokenAudience: null,
  tokenJwksUri: null,
  tokenAlgorithms: [],
  tokenClientId: null,
  tokenDpop: false,
  tokenMaxAge: USUAL_MAX_AGE,
};

export const TOKEN_PROVIDER_FIELDS = {
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
  tokenMaxAge: {
    name: 'token_max_age',
    column: 'integer',
    must: `must be a whole number of seconds from ${MIN_MAX_AGE} to ${MAX_MAX_AGE}`,
    test: (value) => Number.isInteger(value) && Number(value) >= MIN_MAX_AGE && Number(value) <= MAX_MAX_AGE,
  },
} satisfies Record<keyof TokenProvider, GrantField>;

export const TOKEN_PROVIDER_KEYS = Object.keys(TOKEN_PROVIDER_FIELDS) as (keyof TokenProvider)[];

/** Fields that always have a value, also without a provider. */
const OPTIONAL = ['tokenDpop', 'tokenMaxAge'] as const satisfies (keyof TokenProvider)[];

export type OptionalKey = (typeof OPTIONAL)[number];

export const isOptional = (key: string): key is OptionalKey => OPTIONAL.some((optional) => optional === key);

/**
 * Returns what a change implies. Without an issuer, a client takes no tokens. A new provider has the usual algorithms, unless
 * the change names others.
 */
export function impliedTokenFields(before: TokenProvider, change: Partial<TokenProvider>): Partial<TokenProvider> {
  if (change.tokenIssuer === null) return NO_TOKEN_PROVIDER;
  const isNew = before.tokenIssuer === null && TOKEN_PROVIDER_KEYS.some((key) => change[key] !== undefined);
  return isNew && change.tokenAlgorithms === undefined ? { tokenAlgorithms: USUAL_ALGORITHMS } : {};
}

/** Returns the changed fields that let a client take tokens that it did not take before. */
export function tokenWidenings(before: TokenProvider, after: TokenProvider): (keyof TokenProvider)[] {
  if (after.tokenIssuer === null) return [];
  // Without a provider, a client takes neither old tokens nor tokens that are not bound.
  const was = before.tokenIssuer === null ? { ...before, tokenDpop: true, tokenMaxAge: 0 } : before;
  return TOKEN_PROVIDER_KEYS.filter((key) => {
    if (key === 'tokenDpop') return was.tokenDpop && !after.tokenDpop;
    if (key === 'tokenMaxAge') return after.tokenMaxAge > was.tokenMaxAge;
    return JSON.stringify(was[key]) !== JSON.stringify(after[key]);
  });
}

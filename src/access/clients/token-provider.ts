import { ClientError } from './client-error';
import { GrantField } from './limit-fields';

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

/** The longest text of a field. Longer ones would not fit in a token. */
export const MAX_PROVIDER_TEXT = 500;

export const NO_PROVIDER: TokenProvider = {
  tokenIssuer: null,
  tokenAudience: null,
  tokenJwksUri: null,
  tokenAlgorithms: [],
  tokenClientId: null,
  tokenDpop: false,
};

const PLACE = `https, at most ${MAX_PROVIDER_TEXT} characters, without a user, a password and a fragment. On this machine, http is allowed`;

export const PROVIDER_FIELDS = {
  tokenIssuer: text('token_issuer', `must be a URL with ${PLACE}`, isPlace),
  tokenAudience: text('token_audience', 'must be 1 to 500 printable ASCII characters without spaces', isWord),
  tokenJwksUri: text('token_jwks_uri', `must be a URL with ${PLACE}`, isPlace),
  tokenAlgorithms: {
    name: 'token_algorithms',
    column: 'text[]',
    must: `must be a list of some of ${TOKEN_ALGORITHMS.join(', ')}`,
    test: (value) =>
      Array.isArray(value) &&
      new Set(value).size === value.length &&
      value.every((one) => TOKEN_ALGORITHMS.some((known) => known === one)),
  },
  tokenClientId: text('token_client_id', 'must be 1 to 500 printable ASCII characters without spaces', isWord),
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

function text(name: string, must: string, isValid: (value: string) => boolean): GrantField {
  return { name, column: 'text', must, test: (value) => typeof value === 'string' && isValid(value) };
}

function isWord(value: string): boolean {
  return value.length <= MAX_PROVIDER_TEXT && /^[!-~]+$/.test(value);
}

/** Whether text is a URL that nobody on the way can answer for. A URL without a certificate leads to this machine. */
function isPlace(value: string): boolean {
  if (!isWord(value) || !URL.canParse(value) || value.includes('#')) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
  return isSafe && username === '' && password === '';
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

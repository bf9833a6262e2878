import { Fault } from '../../platform/errors/problem';
import { ClientError } from './client-error';
import { GrantField, LIMIT_FIELDS } from './limits/limit-fields';
import { Limits } from './limits/limits';

/**
 * The identity provider of a client's access tokens (RFC 9068). Without it, all required fields are unset and
 * the client accepts no tokens.
 */
export interface TokenProvider {
  /** The claim `iss` of its tokens. */
  tokenIssuer: string | null;
  /** The claim `aud` of its tokens: this API. */
  tokenAudience: string | null;
  /** URL of the provider's public keys. */
  tokenJwksUri: string | null;
  /** Allowed signature algorithms of its tokens. */
  tokenAlgorithms: string[];
  /** The app at the provider (`client_id`). Unique together with the issuer. */
  tokenClientId: string | null;
  /** Whether tokens must be bound to a key of the app (DPoP, RFC 9449). */
  tokenDpop: boolean;
  /** Maximum age of a token from its `iat`, in seconds. An earlier `exp` counts. */
  tokenMaxAge: number;
}

/** The OpenID provider of a client's page sign-ins. Null fields disable page sessions. */
export interface PageProvider {
  /** The claim `iss` of its ID tokens. */
  pageIssuer: string | null;
  /** The client at the provider (`aud` of its ID tokens). Unique together with the issuer. */
  pageClientId: string | null;
}

/** The identity providers of a client's access tokens and page sessions. */
export interface Providers extends TokenProvider, PageProvider {}

/** Asymmetric algorithms only: with a symmetric one, every verifier could forge tokens. */
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

/** Default algorithms of a provider. */
const USUAL_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA'];

/** A day. Longer lifetimes are usually a misconfiguration of the provider. */
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

export const NO_PAGE_PROVIDER: PageProvider = { pageIssuer: null, pageClientId: null };
export const NO_PROVIDERS: Providers = { ...NO_TOKEN_PROVIDER, ...NO_PAGE_PROVIDER };

const TOKEN_KEYS = Object.keys(NO_TOKEN_PROVIDER) as (keyof TokenProvider)[];
const PAGE_KEYS = Object.keys(NO_PAGE_PROVIDER) as (keyof PageProvider)[];
export const PROVIDER_KEYS = [...TOKEN_KEYS, ...PAGE_KEYS];

/** Maximum length of a field, so it fits in a token. */
export const MAX_PROVIDER_TEXT = 500;

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const PROVIDER_URL =
  `https, at most ${MAX_PROVIDER_TEXT} characters, without a user, a password and a fragment. ` +
  'On this machine, http is allowed';

export const PROVIDER_FIELDS = {
  tokenIssuer: urlField('token_issuer'),
  tokenAudience: wordField('token_audience'),
  tokenJwksUri: urlField('token_jwks_uri'),
  tokenAlgorithms: {
    name: 'token_algorithms',
    column: 'text[]',
    must: `must be a list of some of ${TOKEN_ALGORITHMS.join(', ')}`,
    test: (value) =>
      Array.isArray(value) &&
      new Set(value).size === value.length &&
      value.every((algorithm) => TOKEN_ALGORITHMS.some((known) => known === algorithm)),
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
  pageIssuer: urlField('page_issuer'),
  pageClientId: wordField('page_client_id'),
} satisfies Record<keyof Providers, GrantField>;

/** Returns a field for a URL of a provider. */
function urlField(name: string): GrantField {
  return textField(name, `must be a URL with ${PROVIDER_URL}`, isProviderUrl);
}

/** Returns a field for a provider's identifier. */
function wordField(name: string): GrantField {
  return textField(
    name,
    `must be 1 to ${MAX_PROVIDER_TEXT} printable ASCII characters without spaces`,
    isWord,
  );
}

function textField(name: string, must: string, isValid: (value: string) => boolean): GrantField {
  return { name, column: 'text', must, test: (value) => typeof value === 'string' && isValid(value) };
}

function isWord(value: string): boolean {
  return value.length <= MAX_PROVIDER_TEXT && /^[!-~]+$/.test(value);
}

/** Returns whether text is an https URL, or an http URL of this machine. */
function isProviderUrl(value: string): boolean {
  if (!isWord(value) || !URL.canParse(value) || value.includes('#')) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
  return isSafe && username === '' && password === '';
}

/** Fields with a value even without a provider. */
const OPTIONAL = ['tokenDpop', 'tokenMaxAge'] as const satisfies (keyof TokenProvider)[];

export type OptionalKey = (typeof OPTIONAL)[number];

export const isOptional = (key: string): key is OptionalKey => OPTIONAL.some((optional) => optional === key);

/** The providers of a client, and the origins of its pages. */
type WithOrigins = Providers & Pick<Limits, 'origins'>;

/** Fields that a provider requires together. */
interface ProviderGroup {
  keys: (keyof WithOrigins)[];
  /** Fields that the provider requires. A client may have some of them without it. */
  needs: (keyof WithOrigins)[];
  client: string;
  /** Instruction for removing the provider. */
  without: string;
}

const NEEDED_TOKEN_KEYS = TOKEN_KEYS.filter((key) => !isOptional(key));

const PROVIDER_GROUPS: ProviderGroup[] = [
  {
    keys: NEEDED_TOKEN_KEYS,
    needs: NEEDED_TOKEN_KEYS,
    client: 'a client that accepts access tokens',
    without: 'To accept none, set token_issuer to null',
  },
  {
    keys: PAGE_KEYS,
    needs: [...PAGE_KEYS, 'origins'], // a sign-in returns to a page of an origin
    client: 'a client with page sessions',
    without: 'To have none, set page_issuer to null',
  },
];

/** Adds the implied fields to a change of providers. @throws ClientError that names the missing fields. */
export function completeProviders<Change extends Partial<WithOrigins>>(
  before: WithOrigins,
  change: Change,
): Change {
  const completed = { ...change, ...impliedBy(before, change) };
  const after = { ...before, ...completed };
  const isMissing = (key: keyof WithOrigins) => after[key] === null || [after[key]].flat().length === 0;
  const lacking = PROVIDER_GROUPS.filter(({ keys }) => !keys.every(isMissing))
    .map((group) => ({ ...group, missing: group.needs.filter(isMissing).map(nameOf) }))
    .filter(({ missing }) => missing.length > 0);
  if (lacking.length === 0) return completed;
  const texts = lacking.map(({ client, missing }) => `${client} needs ${missing.join(', ')}, too`);
  const faults = lacking.flatMap(({ client, without, missing }) =>
    missing.map((name): Fault => ({ pointer: `/${name}`, detail: `is required for ${client}. ${without}` })),
  );
  throw new ClientError(texts.join('; '), undefined, faults);
}

/**
 * Returns the implied fields of a change. Removing an issuer clears its provider. A new provider of tokens
 * gets the default algorithms, unless the change names others.
 */
function impliedBy(before: Providers, change: Partial<Providers>): Partial<Providers> {
  const page = change.pageIssuer === null ? NO_PAGE_PROVIDER : {};
  if (change.tokenIssuer === null) return { ...page, ...NO_TOKEN_PROVIDER };
  const isNew = before.tokenIssuer === null && TOKEN_KEYS.some((key) => change[key] !== undefined);
  return isNew && change.tokenAlgorithms === undefined
    ? { ...page, tokenAlgorithms: USUAL_ALGORITHMS }
    : page;
}

/** Returns the changed fields that admit more people or tokens, by their names in the API. */
export function providerExpansions(before: Providers, after: Providers): string[] {
  // Without a provider, a client accepts neither old nor unbound tokens.
  const was = before.tokenIssuer === null ? { ...before, tokenDpop: true, tokenMaxAge: 0 } : before;
  const expands = (key: keyof Providers) => {
    if (key === 'tokenDpop') return was.tokenDpop && !after.tokenDpop;
    if (key === 'tokenMaxAge') return after.tokenMaxAge > was.tokenMaxAge;
    return JSON.stringify(was[key]) !== JSON.stringify(after[key]);
  };
  const keys = [
    ...(after.tokenIssuer === null ? [] : TOKEN_KEYS),
    ...(after.pageIssuer === null ? [] : PAGE_KEYS),
  ];
  return keys.filter(expands).map(nameOf);
}

function nameOf(key: keyof WithOrigins): string {
  return key === 'origins' ? LIMIT_FIELDS.origins.name : PROVIDER_FIELDS[key].name;
}

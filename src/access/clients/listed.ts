import { Prisma } from '../../platform/database/generated/client';
import { LIMIT_KEYS, limitsOf, toLimitsDocument } from './limits/limits';

/**
 * Kinds of clients, immutable. A `server` has secret keys. A `public` client, such as a mobile app or a page,
 * cannot hide a secret, so it has none (RFC 6749, section 2.1). Its people send access tokens or sign in on
 * its pages.
 */
export const CLIENT_KINDS = ['server', 'public'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A client in the API for operators. */
export type ListedClient = ReturnType<typeof listedClient>;

/**
 * Kinds of keys. Only a `secret` key has a text. A `provider` key represents the tokens of the client's
 * provider, a `sign_in` key the sessions of a person, and a `page` key the sessions on the client's pages.
 */
export const KEY_KINDS = ['secret', 'provider', 'sign_in', 'page'] as const;
type KeyKind = (typeof KEY_KINDS)[number];

/** A key in the API for operators, without its secret. */
export type ListedKey = ReturnType<typeof listedKey>;

export function listedClient(client: Prisma.ClientGetPayload<{ include: { keys: true } }>, now: Date) {
  return {
    id: client.id,
    name: client.name,
    account: client.account,
    kind: client.kind as ClientKind,
    scopes: client.scopes,
    /** Null allows all. */
    operations: allowedOperations(client),
    ...toLimitsDocument(limitsOf(client), LIMIT_KEYS),
    token_issuer: client.tokenIssuer,
    token_audience: client.tokenAudience,
    token_jwks_uri: client.tokenJwksUri,
    token_algorithms: client.tokenAlgorithms,
    token_client_id: client.tokenClientId,
    token_dpop: client.tokenDpop,
    token_max_age: client.tokenMaxAge,
    page_issuer: client.pageIssuer,
    page_client_id: client.pageClientId,
    created_at: client.createdAt,
    active_keys: client.keys.filter((key) => key.kind === 'secret' && stateOf(key, now) === 'active').length,
  };
}

export function listedKey(key: Prisma.ApiKeyGetPayload<{ include: { client: true } }>, now: Date) {
  return {
    id: key.id,
    client: key.client.name,
    kind: key.kind as KeyKind,
    hint: hintOf(key.client.name, key),
    person: key.person,
    subject: key.subject,
    state: stateOf(key, now),
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
    change_id: key.changeId,
    claim_until: key.claimUntil,
    claimed_at: key.claimedAt,
    claimed_by: key.claimedBy,
  };
}

/** Returns the beginning and the end of a secret key. Empty for other keys. */
export function hintOf(
  clientName: string,
  { hint, kind = 'secret' }: { hint: string; kind?: string },
): string {
  return kind === 'secret' ? `pp_${clientName}_…${hint}` : hint;
}

/** States of a key. An `unclaimed` key gets its secret when its person claims it. */
export const KEY_STATES = ['active', 'unclaimed', 'revoked', 'expired'] as const;
type KeyState = (typeof KEY_STATES)[number];

type Life = Pick<Prisma.ApiKeyGetPayload<object>, 'revokedAt' | 'expiresAt' | 'claimSha256' | 'claimUntil'>;

function stateOf({ revokedAt, expiresAt, claimSha256, claimUntil }: Life, now: Date): KeyState {
  if (revokedAt) return 'revoked';
  const isUnclaimed = claimSha256 !== null;
  const ends = [expiresAt, isUnclaimed ? claimUntil : null];
  if (ends.some((end) => end !== null && end <= now)) return 'expired';
  return isUnclaimed ? 'unclaimed' : 'active';
}

/**
 * Returns the allowed operations from a client's row. Null allows all. Prisma maps null to an empty list,
 * which the database never holds.
 */
function allowedOperations({ operations }: { operations: string[] }): string[] | null {
  return operations.length > 0 ? operations : null;
}

import { END_USER_SCOPES } from '../../operations/scopes';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';
import { OPENS } from '../clients/key';
import { personHashSql } from '../people/person-hash';
import { AccessTokenClaims, SKEW_SECONDS, TokenSource } from '../tokens/access-token';
import { expiredToken, invalidToken } from '../tokens/refusals';
import { Named } from '../tokens/token-credential';
import { Caller } from './caller';
import { CALLER_COLUMNS, CallerRow, callerOf } from './caller-row';

/** The client of a token, the provider whose tokens it takes, and what is known of the person. */
export interface TokenRow extends CallerRow {
  place: number;
  audience: string;
  jwksUri: string;
  algorithms: string[];
  requiresDpop: boolean;
  /** Seconds from its `iat` after which a token ends. */
  maxAge: number;
  /** When all tokens of the person were revoked. */
  revokedAt: Date | null;
  /** When the database last came back from the past. */
  recoveredAt: Date | null;
}

const NOT_BOUND =
  'Your client takes only access tokens that are bound to a key of the app (cnf.jkt, RFC 9449). Nothing was done. Get one from the identity provider with a proof.';

/** A recovered database may lack revocations, so all tokens from before have ended. Each epoch but the first begins with a recovery. */
const RECOVERED_AT = '(SELECT max(started_at) FROM epoch WHERE number > 1)';

/** Finds the clients of tokens. $1 to $3 are the issuers, the clients at their providers, and the persons. */
export const FIND_TOKEN_CLIENTS = `
  SELECT asked.place::int AS place, ${CALLER_COLUMNS}, c.token_audience AS audience, c.token_jwks_uri AS "jwksUri",
    c.token_algorithms AS algorithms, c.token_dpop AS "requiresDpop", c.token_max_age AS "maxAge",
    p.revoked_at AS "revokedAt", ${RECOVERED_AT} AS "recoveredAt"
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS asked(issuer, client_id, person, place)
  JOIN client c ON c.token_issuer = asked.issuer AND c.token_client_id = asked.client_id
  JOIN LATERAL (
    SELECT k.* FROM api_key k WHERE k.client_id = c.id AND k.kind = 'provider' AND ${OPENS} ORDER BY k.id LIMIT 1
  ) k ON TRUE
  LEFT JOIN person p ON p.sha256 = ${personHashSql('c.id', 'asked.person')} AND p.revoked_at IS NOT NULL`;

export function sourceOf({ audience, jwksUri, algorithms }: TokenRow, { issuer, clientId }: Named): TokenSource {
  return { issuer, audience, jwksUri, algorithms, clientId };
}

/**
 * Returns the caller of a verified token: its client, narrowed to the scopes of the token. The credential of the client
 * cannot do more for a person than the person has agreed to, nor more than the client may do. Nothing of operators is open to
 * it, and no transactions of others: whoever approves or administers signs in to the console.
 * @throws Problem `invalid_token` if the tokens of the person were revoked, `token_expired` if the token has ended or is from
 * before a recovery, or `use_dpop` if the client takes bound tokens only.
 */
export function tokenCallerOf(row: TokenRow, named: Named, claims: AccessTokenClaims): Caller {
  if (isFromBefore(row.revokedAt, claims)) throw invalidToken('it was revoked. Sign in again');
  if (isFromBefore(row.recoveredAt, claims)) throw expiredToken(); // apps get a new one by themselves
  const validForMs = endOf(row, claims) * 1_000 - clock.nowMs();
  if (validForMs <= 0) throw expiredToken();
  if (row.requiresDpop && claims.jkt === null) throw new Problem('use_dpop', { text: NOT_BOUND });
  const { scopes, ...client } = callerOf(row);
  return {
    ...client,
    credential: {
      kind: 'token',
      claims,
      named,
      source: JSON.stringify(sourceOf(row, named)),
      validUntil: performance.now() + validForMs,
    },
    identity: { source: 'token', issuer: claims.issuer, name: claims.subject },
    scopes: new Set(END_USER_SCOPES.filter((scope) => scopes.has(scope) && claims.scopes.includes(scope))),
  };
}

/** Returns when a token ends, in seconds since 1970. Its provider may let it live for longer than its client does. */
function endOf({ maxAge }: TokenRow, { issuedAt, expiresAt }: AccessTokenClaims): number {
  return Math.min(expiresAt, issuedAt + maxAge);
}

/** A provider's clock may be ahead of ours, so a token from before may state a time after it. */
function isFromBefore(at: Date | null, { issuedAt }: AccessTokenClaims): boolean {
  return at !== null && issuedAt * 1_000 <= at.getTime() + SKEW_SECONDS * 1_000;
}

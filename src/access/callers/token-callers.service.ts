import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { END_USER_SCOPES } from '../../operations/catalogue/scopes';
import { clock } from '../../platform/database/clock';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS, withTimeout } from '../../platform/database/pools/timeouts';
import { TYPES } from '../../platform/database/rows/binary-array';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { OPENS } from '../clients/key';
import { afterClient, personHashSql } from '../people/person';
import {
  AccessTokenClaims,
  TokenClaims,
  ParsedToken,
  parseToken,
  SKEW_SECONDS,
  TokenCredential,
  TokenSource,
} from '../tokens/access-token';
import { expiredToken, invalidToken } from '../tokens/refusals';
import { TokensService } from '../tokens/tokens.service';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from './caller';
import { LastUsesService, MAX_KNOWN_KEYS, Purpose, RememberedCallers } from './look-ups';

/** Batch size. Above the number of tokens that wait at once. */
const MAX_LOOK_UPS = 1_000;

type LookUps = GroupCommit<TokenClaims, TokenRow | undefined>;

/** Finds the callers of access tokens. */
@Injectable()
export class TokenCallersService {
  /** SHA-256 of the tokens that were last found valid. Forged tokens never delay them. */
  private readonly known = new LRUCache<string, true>({ max: MAX_KNOWN_KEYS });
  private readonly lookUps: Record<Purpose, { known: LookUps; unknown: LookUps }>;
  private readonly remembered = new RememberedCallers();

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
    private readonly tokens: TokensService,
    private readonly uses: LastUsesService,
  ) {
    const on = (database: PrismaService) => ({ known: lookUpsOn(database), unknown: lookUpsOn(database) });
    this.lookUps = { forPayments: on(prisma), forOthers: on(side) };
  }

  /**
   * Finds the caller of a token in the database. A revocation or a changed limit takes effect at once.
   * @param timeoutMs the remaining wait of its request.
   * @throws Problem if the token is invalid or cannot be verified.
   */
  identify(token: string, timeoutMs: number): Promise<Caller> {
    return this.lookUp(token, hash('sha256', token, 'base64'), 'forOthers', timeoutMs);
  }

  /** Finds the caller of a token, remembered or in the database. See `RememberedCallers`. */
  identifyForAdmission(
    token: string,
    timeoutMs: number,
    suffices: (caller: Caller) => boolean,
  ): Promise<Caller> {
    const sha256 = hash('sha256', token, 'base64');
    const lookUp = () => this.lookUp(token, sha256, 'forPayments', timeoutMs);
    return this.remembered.find(sha256, suffices, lookUp);
  }

  /** Looks up a caller again, for admission. Undefined if its token is no longer valid. */
  async lookUpAgain(
    before: Caller,
    credential: TokenCredential,
    timeoutMs: number,
  ): Promise<Caller | undefined> {
    const caller = await findAgain(this.prisma, credential, timeoutMs);
    this.remembered.compare(before, caller);
    return caller;
  }

  /** Finds the caller of a long response again. Undefined if its token is no longer valid. */
  peek(credential: TokenCredential): Promise<Caller | undefined> {
    return findAgain(this.side, credential, REQUEST_TIMEOUT_MS);
  }

  private async lookUp(token: string, sha256: string, purpose: Purpose, timeoutMs: number): Promise<Caller> {
    const until = performance.now() + timeoutMs;
    const parsed = parseToken(token);
    const unverified = unverifiedClaims(parsed);
    const { known, unknown } = this.lookUps[purpose];
    const lookUp = (this.known.has(sha256) ? known : unknown).add(unverified, timeoutMs);
    const row = await lookUp.catch(databaseUnavailable);
    if (!row) throw invalidToken(await this.unknownIssuerReason(unverified, timeoutMs));
    const left = Math.max(0, until - performance.now());
    const claims = await this.tokens.verify({ token, sha256, ...parsed }, sourceOf(row, unverified), left);
    const caller = tokenCallerOf(row, unverified, claims);
    this.known.set(sha256, true);
    this.uses.remember(row.keyId);
    return caller;
  }

  /** Explains an unknown issuer. A final slash is a common and invisible mistake. */
  private async unknownIssuerReason(claims: TokenClaims, timeoutMs: number): Promise<string> {
    const other = { ...claims, issuer: otherSpelling(claims.issuer) };
    const isKnown = await this.lookUps.forOthers.unknown.add(other, timeoutMs).catch(databaseUnavailable);
    return isKnown
      ? 'its issuer (iss) and the token_issuer of its client differ by a final slash. ' +
          'The operator must set token_issuer to the exact issuer of the token'
      : 'no client of this API accepts tokens of this provider and app (iss, client_id)';
  }
}

/** Returns the issuer with a final slash if it has none, else without it. */
function otherSpelling(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`;
}

function unverifiedClaims({ issuer, clientId, subject }: ParsedToken): TokenClaims {
  return { issuer, clientId, person: afterClient(issuer, subject) };
}

async function findAgain(
  prisma: PrismaService,
  { unverified, claims, source, validUntil }: TokenCredential,
  timeoutMs: number,
): Promise<Caller | undefined> {
  const left = validUntil - performance.now();
  const [row] = left > 0 ? await withTimeout(findClients(prisma, [unverified]), timeoutMs) : [];
  // The token was verified for another provider, audience or algorithm.
  if (!row || JSON.stringify(sourceOf(row, unverified)) !== source) return undefined;
  return tokenCallerOf(row, unverified, claims);
}

function findClients(prisma: PrismaService, tokens: TokenClaims[]): Promise<TokenRow[]> {
  const values = (['issuer', 'clientId', 'person'] as const).map((claim) =>
    TYPES.text.array(tokens.map((token) => token[claim])),
  );
  return prisma.prepared<TokenRow>('find_token_clients', FIND_TOKEN_CLIENTS, values);
}

/** Looks up all waiting tokens in one statement, because every request waits for it. */
function lookUpsOn(prisma: PrismaService): LookUps {
  const lookUp = async (tokens: TokenClaims[]) => {
    const rows = await findClients(prisma, tokens);
    const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]));
    return tokens.map((_token, index) => byOrdinal.get(index + 1));
  };
  return new GroupCommit<TokenClaims, TokenRow | undefined>(lookUp, () => 1, MAX_LOOK_UPS, {
    timeoutMs: REQUEST_TIMEOUT_MS,
  });
}

/** The client of a token, its provider, and the revocations of the person. */
interface TokenRow extends CallerRow {
  /** The position of the token in the query, from 1. */
  ordinal: number;
  audience: string;
  jwksUri: string;
  algorithms: string[];
  requiresDpop: boolean;
  /** Maximum age of a token from its `iat`, in seconds. */
  maxAge: number;
  /** Time of the last revocation of the person's tokens. */
  revokedAt: Date | null;
  /** Time of the database's last restore. */
  recoveredAt: Date | null;
}

const NOT_BOUND =
  'Your client accepts only access tokens bound to a key of the app (cnf.jkt, RFC 9449). ' +
  'Nothing was done. Get one from the identity provider with a proof.';

/**
 * Start of the last recovery, which ends all earlier tokens: a restored database may lack revocations. Every
 * epoch except the first begins with a recovery.
 */
const RECOVERED_AT = '(SELECT max(started_at) FROM epoch WHERE number > 1)';

/**
 * Finds the clients of tokens. $1 to $3 are the issuers, the client IDs at the providers, and the persons.
 */
const FIND_TOKEN_CLIENTS = `
  SELECT sent.ordinal::int AS ordinal, ${CALLER_COLUMNS},
    c.token_audience AS audience, c.token_jwks_uri AS "jwksUri", c.token_algorithms AS algorithms,
    c.token_dpop AS "requiresDpop", c.token_max_age AS "maxAge",
    p.revoked_at AS "revokedAt", ${RECOVERED_AT} AS "recoveredAt"
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS sent(issuer, client_id, person, ordinal)
  JOIN client c ON c.token_issuer = sent.issuer AND c.token_client_id = sent.client_id
  JOIN LATERAL (
    SELECT k.* FROM api_key k WHERE k.client_id = c.id AND k.kind = 'provider' AND ${OPENS}
    ORDER BY k.id LIMIT 1
  ) k ON TRUE
  LEFT JOIN person p ON p.sha256 = ${personHashSql('c.id', 'sent.person')} AND p.revoked_at IS NOT NULL`;

function sourceOf(
  { audience, jwksUri, algorithms }: TokenRow,
  { issuer, clientId }: TokenClaims,
): TokenSource {
  return { issuer, audience, jwksUri, algorithms, clientId };
}

/**
 * Returns the caller of a verified token: its client, narrowed to the scopes of the token. It never exceeds
 * the consent of the person or the rights of the client. Staff routes and other people's transactions are
 * closed to it: approvers and administrators sign in to the console.
 * @throws Problem `invalid_token` if the person's tokens were revoked, `token_expired` if the token has
 * expired or predates a recovery, or `use_dpop` if the client accepts bound tokens only.
 */
function tokenCallerOf(row: TokenRow, unverified: TokenClaims, claims: AccessTokenClaims): Caller {
  if (predates(row.revokedAt, claims)) throw invalidToken('it was revoked. Sign in again');
  if (predates(row.recoveredAt, claims)) throw expiredToken(); // apps renew it unattended
  const validForMs = endOf(row, claims) * 1_000 - clock.nowMs();
  if (validForMs <= 0) throw expiredToken();
  if (row.requiresDpop && claims.jkt === null) throw new Problem('use_dpop', { text: NOT_BOUND });
  const { scopes, ...client } = callerOf(row);
  return {
    ...client,
    credential: {
      kind: 'token',
      claims,
      unverified,
      source: JSON.stringify(sourceOf(row, unverified)),
      validUntil: performance.now() + validForMs,
    },
    identity: { source: 'token', issuer: claims.issuer, name: claims.subject },
    scopes: new Set(END_USER_SCOPES.filter((scope) => scopes.has(scope) && claims.scopes.includes(scope))),
  };
}

/** Returns the expiry of a token, in seconds since 1970: the earlier of its provider's and its client's. */
function endOf({ maxAge }: TokenRow, { issuedAt, expiresAt }: AccessTokenClaims): number {
  return Math.min(expiresAt, issuedAt + maxAge);
}

/** Returns whether a token predates a time. Allows for a provider's clock that is ahead of ours. */
function predates(at: Date | null, { issuedAt }: AccessTokenClaims): boolean {
  return at !== null && issuedAt * 1_000 <= at.getTime() + SKEW_SECONDS * 1_000;
}

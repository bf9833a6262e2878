import { Inject, Injectable } from '@nestjs/common';
import { END_USER_SCOPES } from '../../operations/catalogue/scopes';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS, withTimeout } from '../../platform/database/pools/timeouts';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from '../callers/caller';
import { KeyLookUps, Purpose } from '../callers/look-ups';
import { hashKey, OPENS } from '../clients/key';
import { openIdToken, sealIdToken } from './id-token';
import { ENDS_AT, goesOn, IS_USE_OLD, newToken, NewSignIn, recordUse } from './session-life';

/** An active page session, with its client and its person. */
interface PageSessionRow extends CallerRow {
  sha256: string;
  sessionId: string;
  issuer: string;
  subject: string;
  signedInAt: Date | null;
  isUseOld: boolean;
  /** Remaining validity from the statement on, in ms. */
  validForMs: number;
}

// A session ends with its page key, its page's origin, or the revocation or erasure of its person.
const selectWhere = (condition: string, idleMinutes: number) => `
  SELECT ${CALLER_COLUMNS}, encode(s.sha256, 'hex') AS sha256, s.id AS "sessionId", p.issuer,
    p.name AS subject,
    s.signed_in_at AS "signedInAt", ${IS_USE_OLD} AS "isUseOld",
    extract(epoch FROM least(${ENDS_AT}, k.expires_at) - now())::float * 1000 AS "validForMs"
  FROM page_session s JOIN api_key k ON k.id = s.key_id JOIN client c ON c.id = k.client_id
    JOIN person p ON p.id = s.person_id
  WHERE ${condition} AND ${OPENS} AND s.origin = ANY (c.origins) AND p.name IS NOT NULL
    AND (p.revoked_at IS NULL OR p.revoked_at < s.created_at)
    AND ${goesOn(String(idleMinutes))}`;

/** Manages page sessions. The browser holds a secret instead of a token. */
@Injectable()
export class PageSessionsService {
  private readonly idleMinutes: number;
  private readonly lookUps: KeyLookUps<PageSessionRow>;

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.idleMinutes = settings.pageIdleMinutes;
    const sql = selectWhere('s.sha256 = ANY ($1::bytea[])', this.idleMinutes);
    this.lookUps = new KeyLookUps(
      { forPayments: prisma, forOthers: side },
      { name: 'find_page_sessions', sql },
    );
  }

  /**
   * Finds the caller of a session. Always queries the database, so an ended session is rejected at once on
   * every instance.
   * @param timeoutMs the remaining wait of its request.
   * @throws DatabaseTooSlow
   */
  async identify(token: string, purpose: Purpose, timeoutMs: number): Promise<Caller | undefined> {
    const askedAt = performance.now();
    const row = await this.lookUps.find(hashKey(token), purpose, timeoutMs);
    if (row?.isUseOld) {
      await recordUse(
        this.side.$executeRaw`UPDATE page_session SET used_at = now() WHERE id = ${row.sessionId}::uuid`,
      );
    }
    return row && pageCallerOf(row, askedAt);
  }

  /** Looks up a caller again, for admission. Undefined if its session has ended. */
  lookUpAgain(sessionId: string, timeoutMs: number): Promise<Caller | undefined> {
    return this.findById(this.prisma, sessionId, timeoutMs);
  }

  /** Finds the caller of a long response again. Undefined if its session has ended. */
  peek(sessionId: string): Promise<Caller | undefined> {
    return this.findById(this.side, sessionId, REQUEST_TIMEOUT_MS);
  }

  /**
   * Starts a session.
   * @param keyId the page key of the client.
   * @param origin the origin of the page after the sign-in.
   * @returns a new secret for the cookie, which is not stored.
   */
  async begin(
    { keyId, personId, origin }: { keyId: string; personId: string; origin: string },
    { at, acr, sid, idToken }: NewSignIn,
  ): Promise<string> {
    const token = newToken();
    await this.side.$executeRaw`
      INSERT INTO page_session (id, key_id, person_id, sha256, origin, signed_in_at, acr, sid, id_token)
      VALUES (${newId()}::uuid, ${keyId}::uuid, ${personId}::uuid, ${hashKey(token)}, ${origin}, ${at},
        ${acr}, ${sid},
        ${sealIdToken(idToken, token)})`;
    await this.side.$executeRaw`UPDATE api_key SET last_used_at = now() WHERE id = ${keyId}::uuid`;
    return token;
  }

  /** Ends a session. @returns the ID token of its person. Undefined for an unknown session. */
  async end(token: string): Promise<string | undefined> {
    const [ended] = await this.side.$queryRaw<{ idToken: Uint8Array }[]>`
      DELETE FROM page_session WHERE sha256 = ${hashKey(token)} RETURNING id_token AS "idToken"`;
    return ended && openIdToken(ended.idToken, token);
  }

  /** Ends the session with this hash, which a new session replaces. */
  async replace(hexHash: string): Promise<void> {
    await this.side.$executeRaw`DELETE FROM page_session WHERE sha256 = decode(${hexHash}, 'hex')`;
  }

  private async findById(prisma: PrismaService, id: string, timeoutMs: number): Promise<Caller | undefined> {
    const askedAt = performance.now();
    const sql = selectWhere('s.id = $1::uuid', this.idleMinutes);
    const finding = prisma.prepared<PageSessionRow>('find_page_session_by_id', sql, [id]);
    const [row] = await withTimeout(finding, timeoutMs);
    return row && pageCallerOf(row, askedAt);
  }
}

/**
 * Returns the caller of a session: its client, with the scopes of end users.
 * @param askedAt start of the query, on the monotonic clock.
 */
function pageCallerOf(row: PageSessionRow, askedAt: number): Caller {
  const { scopes, ...client } = callerOf(row);
  const { sessionId: id, signedInAt, issuer, subject, validForMs } = row;
  return {
    ...client,
    credential: { kind: 'session', id, signedInAt, validUntil: askedAt + validForMs },
    identity: { source: 'session', issuer, name: subject },
    scopes: new Set(END_USER_SCOPES.filter((scope) => scopes.has(scope))),
  };
}

import { Inject, Injectable } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS, withTimeout } from '../../platform/database/pools/timeouts';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from '../callers/caller';
import { hashKey, OPENS } from '../clients/key';
import { SignInIdentity } from '../clients/sign-ins';
import { openIdToken, sealIdToken } from './id-token';
import { goesOn, IS_USE_OLD, newToken, NewSignIn, recordUse } from './session-life';

// A session also ends when the configuration no longer allows its kind of sign-in.
const FIND_SESSION = `
  SELECT ${CALLER_COLUMNS}, ${IS_USE_OLD} AS "isUseOld",
    k.kind = 'sign_in' AS "isSignIn", s.signed_in_at AS "signedInAt", s.acr,
    extract(epoch FROM now() - s.signed_in_at)::float8 AS "signedInAgo"
  FROM console_session s JOIN api_key k ON k.id = s.key_id JOIN client c ON c.id = k.client_id
  WHERE s.sha256 = $1::bytea AND ${goesOn('$2::int')} AND ${OPENS}
    AND CASE k.kind WHEN 'sign_in' THEN k.issuer = $3 ELSE $4::boolean END`;

const FIND_SIGN_IN = `
  SELECT ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id
  WHERE k.kind = 'sign_in' AND k.issuer = $1 AND k.subject = $2 AND ${OPENS}`;

type SessionRow = CallerRow & {
  isUseOld: boolean;
  isSignIn: boolean;
  signedInAt: Date | null;
  signedInAgo: number | null;
  acr: string | null;
};

/** A person's authentication at the OpenID provider. */
export interface SignIn {
  /** Time, by the provider's clock. Null if omitted. */
  at: Date | null;
  /** Age in seconds. Null if the provider omits the time. */
  ageSeconds: number | null;
  /** Strength, as the provider's class reference (`acr`). */
  acr: string | null;
}

/** The caller of a session, and its sign-in. */
export interface Session {
  caller: Caller;
  /** Undefined for a session begun with a key. */
  signIn: SignIn | undefined;
}

/** Manages console sessions. The browser holds a short-lived secret instead of a key. */
@Injectable()
export class SessionsService {
  private readonly idleMinutes: number;
  private readonly issuer: string | null;
  private readonly keySignIn: boolean;

  constructor(
    private readonly prisma: SidePrisma,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const { consoleIdleMinutes, openIdProvider, keySignIn } = settings;
    this.idleMinutes = consoleIdleMinutes;
    this.issuer = openIdProvider?.issuer ?? null;
    this.keySignIn = keySignIn;
  }

  /**
   * Starts a session.
   * @param signIn the sign-in at the provider. Undefined for a session begun with a key.
   * @returns a new secret for the cookie, which is not stored.
   */
  async begin(keyId: string, signIn?: NewSignIn): Promise<string> {
    const token = newToken();
    const { at = null, acr = null, sid = null, idToken } = signIn ?? {};
    const sealed = idToken === undefined ? null : new Uint8Array(sealIdToken(idToken, token));
    await this.prisma.consoleSession.create({
      data: { sha256: new Uint8Array(hashKey(token)), keyId, signedInAt: at, acr, sid, idToken: sealed },
    });
    if (signIn)
      await this.prisma.$executeRaw`UPDATE api_key SET last_used_at = now() WHERE id = ${keyId}::uuid`;
    return token;
  }

  /**
   * Finds the caller of a session. Always queries the database, so a session ends with its key at once on
   * every instance.
   * @param timeoutMs the remaining wait of its request.
   * @throws DatabaseTooSlow
   */
  async identify(token: string, timeoutMs: number): Promise<Session | undefined> {
    const row = await this.find(token, timeoutMs);
    if (!row) return undefined;
    if (row.isUseOld) {
      await recordUse(
        this.prisma.$executeRaw`UPDATE console_session SET used_at = now() WHERE sha256 = ${hashKey(token)}`,
      );
    }
    const { isSignIn, signedInAt: at, signedInAgo: ageSeconds, acr } = row;
    return { caller: callerOf(row), signIn: isSignIn ? { at, ageSeconds, acr } : undefined };
  }

  /** Finds the caller without counting a use, so an open stream does not prolong the session. */
  async peek(token: string): Promise<Caller | undefined> {
    const row = await this.find(token, REQUEST_TIMEOUT_MS);
    return row && callerOf(row);
  }

  private async find(token: string, timeoutMs: number): Promise<SessionRow | undefined> {
    const values = [hashKey(token), this.idleMinutes, this.issuer, this.keySignIn];
    const finding = this.prisma.prepared<SessionRow>('find_session', FIND_SESSION, values);
    const [row] = await withTimeout(finding, timeoutMs);
    return row;
  }

  /** Finds the caller of a sign-in. Undefined for an unknown person. */
  async findSignIn({ issuer, subject }: SignInIdentity): Promise<Caller | undefined> {
    const [row] = await this.prisma.prepared<CallerRow>('find_sign_in', FIND_SIGN_IN, [issuer, subject]);
    return row && callerOf(row);
  }

  /** Ends a session. @returns the ID token of its person. Undefined for a session begun with a key. */
  async end(token: string): Promise<string | undefined> {
    const [ended] = await this.prisma.$queryRaw<{ idToken: Uint8Array | null }[]>`
      DELETE FROM console_session WHERE sha256 = ${hashKey(token)} RETURNING id_token AS "idToken"`;
    return ended?.idToken ? openIdToken(ended.idToken, token) : undefined;
  }

  /** Ends the session with this hash, which a new session replaces. */
  async replace(hash: string): Promise<void> {
    await this.prisma.$executeRaw`DELETE FROM console_session WHERE sha256 = decode(${hash}, 'hex')`;
  }
}

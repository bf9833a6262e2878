import { Inject, Injectable } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/pools/patience';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from '../callers/caller';
import { hashKey, OPENS } from '../clients/key';
import { SignInIdentity } from '../clients/sign-ins';
import { openIdToken, sealIdToken } from './id-token';
import { goesOn, IS_USE_OLD, newToken, NewSignIn, recordUse } from './session-life';

// A session ends, too, when people can no longer sign in as its person did.
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

/** How a person proved who they are at the OpenID provider. */
export interface SignIn {
  /** When, by the provider's clock. Null if it does not say. */
  at: Date | null;
  /** How long ago, in seconds. Null if the provider does not say when. */
  ageSeconds: number | null;
  /** How strongly, in the provider's words. */
  acr: string | null;
}

/** The caller of a session, and how the person signed in. */
export interface Session {
  caller: Caller;
  /** Undefined if it began with a key. */
  signIn: SignIn | undefined;
}

/** Manages the console sessions. Instead of a key, the browser holds a secret that is valid for a short time. */
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
   * @param signIn how the person signed in at the provider. Undefined if they sent a key.
   * @returns the secret for the cookie, which is stored nowhere. It is always a new one.
   */
  async begin(keyId: string, signIn?: NewSignIn): Promise<string> {
    const token = newToken();
    const lives = Prisma.raw(goesOn(String(this.idleMinutes)));
    await this.prisma.$executeRaw`DELETE FROM console_session s WHERE NOT (${lives})`;
    const { at = null, acr = null, sid = null, idToken } = signIn ?? {};
    const sealed = idToken === undefined ? null : new Uint8Array(sealIdToken(idToken, token));
    await this.prisma.consoleSession.create({
      data: { sha256: new Uint8Array(hashKey(token)), keyId, signedInAt: at, acr, sid, idToken: sealed },
    });
    if (signIn) await this.prisma.$executeRaw`UPDATE api_key SET last_used_at = now() WHERE id = ${keyId}::uuid`;
    return token;
  }

  /**
   * Finds the caller of a session. It queries the database each time, as for a key. A session therefore ends with its
   * key, at once and on every instance.
   * @param patienceMs how long its request may still wait.
   * @throws DatabaseTooSlow
   */
  async identify(token: string, patienceMs: number): Promise<Session | undefined> {
    const row = await this.find(token, patienceMs);
    if (!row) return undefined;
    if (row.isUseOld) {
      await recordUse(
        this.prisma.$executeRaw`UPDATE console_session SET used_at = now() WHERE sha256 = ${hashKey(token)}`,
      );
    }
    const { isSignIn, signedInAt: at, signedInAgo: ageSeconds, acr } = row;
    return { caller: callerOf(row), signIn: isSignIn ? { at, ageSeconds, acr } : undefined };
  }

  /** Finds the caller without counting a use, so that an open stream does not prolong the session. */
  async peek(token: string): Promise<Caller | undefined> {
    const row = await this.find(token, REQUEST_PATIENCE_MS);
    return row && callerOf(row);
  }

  private async find(token: string, patienceMs: number): Promise<SessionRow | undefined> {
    const values = [hashKey(token), this.idleMinutes, this.issuer, this.keySignIn];
    const finding = this.prisma.prepared<SessionRow>('find_session', FIND_SESSION, values);
    const [row] = await withPatience(finding, patienceMs);
    return row;
  }

  /** Finds the caller that a person signs in as. Undefined if nobody has let them in. */
  async findSignIn({ issuer, subject }: SignInIdentity): Promise<Caller | undefined> {
    const [row] = await this.prisma.prepared<CallerRow>('find_sign_in', FIND_SIGN_IN, [issuer, subject]);
    return row && callerOf(row);
  }

  /** Ends a session. @returns the ID token of its person. Undefined if it began with a key. */
  async end(token: string): Promise<string | undefined> {
    const [ended] = await this.prisma.$queryRaw<{ idToken: Uint8Array | null }[]>`
      DELETE FROM console_session WHERE sha256 = ${hashKey(token)} RETURNING id_token AS "idToken"`;
    return ended?.idToken ? openIdToken(ended.idToken, token) : undefined;
  }

  /** Ends the session of which only the hash is known, because a new one replaces it. */
  async replace(hash: string): Promise<void> {
    await this.prisma.$executeRaw`DELETE FROM console_session WHERE sha256 = decode(${hash}, 'hex')`;
  }
}

import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { randomBytes } from 'node:crypto';
import { Loaded } from '../../platform/config/config.module';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { SidePrisma } from '../../platform/database/side-prisma';
import { isUnavailable } from '../../platform/database/unavailable';
import { Caller } from '../callers/caller';
import { CALLER_COLUMNS, callerOf, CallerRow } from '../callers/caller-row';
import { hashKey, OPENS } from '../clients/key';
import { SignInIdentity } from '../clients/sign-ins';
import { openIdToken, sealIdToken } from './id-token';

/** The secret in the cookie has as many bytes as a key. */
export const TOKEN_BYTES = 32;

/** The longest session: a working day and its evening. */
export const LONGEST_HOURS = 12;

/** Within a minute, further uses are not written. */
export const USE_RESOLUTION_SECONDS = 60;

// A session ends, too, when people can no longer sign in as its person did.
const FIND_SESSION = `
  SELECT ${CALLER_COLUMNS}, now() - s.used_at > interval '${USE_RESOLUTION_SECONDS} seconds' AS "isUseOld",
    k.kind = 'sign_in' AS "isSignIn", s.signed_in_at AS "signedInAt", s.acr,
    extract(epoch FROM now() - s.signed_in_at)::float8 AS "signedInAgo"
  FROM console_session s JOIN api_key k ON k.id = s.key_id JOIN client c ON c.id = k.client_id
  WHERE s.sha256 = $1::bytea AND s.used_at > now() - make_interval(mins => $2::int)
    AND s.created_at > now() - interval '${LONGEST_HOURS} hours' AND ${OPENS}
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

/** What the provider says about a sign-in. */
export interface NewSignIn {
  /** When the person last proved who they are. Null if the provider does not say. */
  at: Date | null;
  acr: string | null;
  /** The session at the provider. */
  sid: string | null;
  idToken: string;
}

/** Manages the console sessions. Instead of a key, the browser holds a secret that is valid for a short time. */
@Injectable()
export class SessionsService {
  private readonly idleMinutes: number;
  private readonly issuer: string | null;
  private readonly keySignIn: boolean;

  constructor(
    private readonly prisma: SidePrisma,
    config: ConfigService<Loaded, true>,
  ) {
    const { consoleIdleMinutes, openIdProvider, keySignIn } = config.get('settings', { infer: true });
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
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await this.prisma.$executeRaw`
      DELETE FROM console_session WHERE used_at < now() - make_interval(mins => ${this.idleMinutes}::int)
        OR created_at < now() - make_interval(hours => ${LONGEST_HOURS}::int)`;
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
    if (row.isUseOld) await this.recordUse(token);
    const { isSignIn, signedInAt: at, signedInAgo: ageSeconds, acr } = row;
    return { caller: callerOf(row), signIn: isSignIn ? { at, ageSeconds, acr } : undefined };
  }

  /** While the database takes no writes, sessions go on, and end as if they were idle. */
  private async recordUse(token: string): Promise<void> {
    try {
      await this.prisma.$executeRaw`UPDATE console_session SET used_at = now() WHERE sha256 = ${hashKey(token)}`;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
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

  /**
   * Ends what the provider has ended: a session of it, or all sessions of a person.
   * @param sid the session at the provider. Undefined for all.
   */
  async endAtProvider(issuer: string, subject: string | undefined, sid: string | undefined): Promise<void> {
    await this.prisma.$executeRaw`
      DELETE FROM console_session s USING api_key k
      WHERE k.id = s.key_id AND k.kind = 'sign_in' AND k.issuer = ${issuer}
        AND k.subject = coalesce(${subject ?? null}, k.subject) AND (${sid ?? null}::text IS NULL OR s.sid = ${sid ?? null})`;
  }
}

/** Returns the hash by which a session can be replaced. It does not tell the secret. */
export function hashOf(token: string): string {
  return hashKey(token).toString('hex');
}

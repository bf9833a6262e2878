import { randomBytes } from 'node:crypto';
import { isUnavailable } from '../../platform/database/pools/unavailable';
import { hashKey } from '../clients/key';

/** The secret in the cookie has as many bytes as a key. */
const TOKEN_BYTES = 32;

/** The longest session: a working day and its evening. */
const LONGEST_HOURS = 12;

/** Within a minute, further uses are not written. */
const USE_RESOLUTION_SECONDS = 60;

/** SQL: whether the last use of a session `s` must be written. */
export const IS_USE_OLD = `now() - s.used_at > interval '${USE_RESOLUTION_SECONDS} seconds'`;

/** SQL: when a session `s` ends at the latest. */
export const ENDS_AT = `(s.created_at + interval '${LONGEST_HOURS} hours')`;

/**
 * SQL: whether a session `s` has ended because nobody used it. Sessions that have ended otherwise are used no more, so in time this
 * holds for them, too.
 * @param idleMinutes SQL, after how many minutes without a request a session ends.
 */
export function isIdle(idleMinutes: string): string {
  return `s.used_at <= now() - make_interval(mins => ${idleMinutes})`;
}

/** SQL: whether a session `s` goes on by itself. @param idleMinutes as for {@link isIdle}. */
export function goesOn(idleMinutes: string): string {
  return `NOT ${isIdle(idleMinutes)} AND ${ENDS_AT} > now()`;
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

/** Makes the secret for the cookie of a new session. It is stored nowhere. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the hash by which a session can be replaced. It does not tell the secret. */
export function hashOf(token: string): string {
  return hashKey(token).toString('hex');
}

/** Waits until a use is written. While the database takes no writes, sessions go on, and end as if they were idle. */
export async function recordUse(writing: PromiseLike<unknown>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

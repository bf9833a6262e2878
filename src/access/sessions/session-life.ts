import { randomBytes } from 'node:crypto';
import { isUnavailable } from '../../platform/database/pools/unavailable';
import { hashKey } from '../clients/key';

/** Length of a cookie's secret, equal to a key's. */
const TOKEN_BYTES = 32;

/** Maximum duration of a session: a working day and its evening. */
const LONGEST_HOURS = 12;

/** Minimum interval between writes of a session's last use. */
const USE_RESOLUTION_SECONDS = 60;

/** SQL: whether the last use of a session `s` must be written. */
export const IS_USE_OLD = `now() - s.used_at > interval '${USE_RESOLUTION_SECONDS} seconds'`;

/** SQL: latest end of a session `s`. */
export const ENDS_AT = `(s.created_at + interval '${LONGEST_HOURS} hours')`;

/**
 * SQL: whether a session `s` has ended by inactivity or age. A session that ended otherwise becomes idle.
 * @param idleMinutes SQL: the idle timeout in minutes.
 */
export function hasEnded(idleMinutes: string): string {
  return `(s.used_at <= now() - make_interval(mins => ${idleMinutes}) OR ${ENDS_AT} <= now())`;
}

/** SQL: whether a session `s` is neither idle nor expired. @param idleMinutes as for {@link hasEnded}. */
export function goesOn(idleMinutes: string): string {
  return `NOT ${hasEnded(idleMinutes)}`;
}

/** A sign-in as reported by the provider. */
export interface NewSignIn {
  /** Time of the person's last authentication. Null if the provider omits it. */
  at: Date | null;
  acr: string | null;
  /** The session at the provider. */
  sid: string | null;
  idToken: string;
}

/** Generates the secret of a new session's cookie. It is not stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the hash that identifies a session to replace, without revealing the secret. */
export function hashOf(token: string): string {
  return hashKey(token).toString('hex');
}

/** Waits for the write of a use. A read-only database skips the write, so a session may end as idle. */
export async function recordUse(writing: PromiseLike<unknown>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

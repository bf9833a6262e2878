import { Config } from '../config';

export type Timeouts = Pick<Config, 'upstreamTimeoutMs' | 'upstreamTimeouts'>;

/** Returns how long one request of an operation may wait and be answered, in milliseconds. */
export function upstreamTimeoutOf(operation: string, { upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return upstreamTimeouts.get(operation) ?? upstreamTimeoutMs;
}

/** Returns the time after which no request of any operation is in flight. Milliseconds. */
export function longestUpstreamTimeout({ upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return Math.max(upstreamTimeoutMs, ...upstreamTimeouts.values());
}

/** The shortest lifetime of a call in milliseconds. A busy database may take this long to admit it. */
const SHORTEST_LIFE_MS = 2_500;

/** Requests sent in the last part of the lifetime could still be in flight when the call may be settled. */
const SENDABLE_SHARE = 0.8;

/**
 * Returns the time after which a released call is no longer in flight, if its process is gone. Milliseconds. Nobody may
 * settle the call earlier.
 */
export function overAfterMs(timeouts: Timeouts): number {
  return Math.max(longestUpstreamTimeout(timeouts), SHORTEST_LIFE_MS);
}

/**
 * Returns the time after which a released call is no longer sent. Milliseconds. It is always less than `overAfterMs`, so a
 * process that was frozen cannot send a call that was settled meanwhile.
 */
export function sendableForMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) * SENDABLE_SHARE;
}

/** Returns how long the journal retries to write an outcome. Milliseconds. It is longer than a Postgres restart takes. */
export const OUTCOME_PATIENCE_MS = 60_000;

/**
 * The last attempt may wait for an earlier batch, and each of the two may be retried. An attempt takes up to five
 * seconds for a connection and ten for a statement.
 */
const LAST_TRY_MS = 2 * 2 * 16_000;

/**
 * Returns the age at which a released call without an outcome is given up, because it will not get one. Milliseconds.
 */
export function givenUpAfterMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) + OUTCOME_PATIENCE_MS + LAST_TRY_MS;
}

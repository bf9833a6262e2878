import { Config } from './config';

export type Timeouts = Pick<Config, 'upstreamTimeoutMs' | 'upstreamTimeouts'>;

/** Returns how long one request of an operation may wait and be answered, in milliseconds. */
export function upstreamTimeoutOf(operation: string, { upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return upstreamTimeouts.get(operation) ?? upstreamTimeoutMs;
}

/** Returns the time after which no request of any operation is in flight. Milliseconds. */
export function longestUpstreamTimeout({ upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return Math.max(upstreamTimeoutMs, ...upstreamTimeouts.values());
}

/** However short the time-outs are, a busy database may take as long as this to admit a call. Milliseconds. */
const SHORTEST_LIFE_MS = 2_500;

/** What is sent in the last part of its time could still be on its way when it may be settled. */
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
 * The last try may wait for a batch before it, and each of the two be tried again, with a connection's five seconds and a
 * statement's ten.
 */
const LAST_TRY_MS = 2 * 2 * 16_000;

/** Returns the age at which a released call without an outcome is given up: it will not get one. Milliseconds. */
export function givenUpAfterMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) + OUTCOME_PATIENCE_MS + LAST_TRY_MS;
}

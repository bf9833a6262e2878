import { Config } from '../config';

export type Timeouts = Pick<Config, 'upstreamTimeoutMs' | 'upstreamTimeouts'>;

/** Returns the timeout of one request of an operation, including its wait, in ms. */
export function upstreamTimeoutOf(
  operation: string,
  { upstreamTimeoutMs, upstreamTimeouts }: Timeouts,
): number {
  return upstreamTimeouts.get(operation) ?? upstreamTimeoutMs;
}

/** Returns the longest timeout of any operation, in ms. */
export function longestUpstreamTimeout({ upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return Math.max(upstreamTimeoutMs, ...upstreamTimeouts.values());
}

/** Minimum lifetime of a call, in ms. A busy database may take this long to admit it. */
const SHORTEST_LIFE_MS = 2_500;

/** Sendable share of the lifetime. A later request could still be in flight when the call may be settled. */
const SENDABLE_SHARE = 0.8;

/**
 * Returns the time after which a released call of a dead process is no longer in flight, in ms. The call must
 * not be settled earlier.
 */
export function overAfterMs(timeouts: Timeouts): number {
  return Math.max(longestUpstreamTimeout(timeouts), SHORTEST_LIFE_MS);
}

/**
 * Returns the time after which a released call is no longer sent, in ms. Always less than `overAfterMs`, so a
 * process that was frozen cannot send a call that was settled meanwhile.
 */
export function sendableForMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) * SENDABLE_SHARE;
}

/** Retry time of writing an outcome, in ms. Longer than a Postgres restart. */
export const OUTCOME_TIMEOUT_MS = 60_000;

/**
 * The last attempt may wait for an earlier batch, and each of the two may be retried. An attempt takes up to
 * five seconds for a connection and ten for a statement.
 */
const LAST_TRY_MS = 2 * 2 * 16_000;

/** Returns the age at which a released call without an outcome is given up, in ms. */
export function givenUpAfterMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) + OUTCOME_TIMEOUT_MS + LAST_TRY_MS;
}

import { Config } from './config';

export type Timeouts = Pick<Config, 'upstreamTimeoutMs' | 'upstreamTimeouts'>;

/** For how long one request of an operation may wait and be answered, together. Milliseconds. */
export function upstreamTimeoutOf(operation: string, { upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return upstreamTimeouts.get(operation) ?? upstreamTimeoutMs;
}

/** Past this no request of any operation is still on its way. Milliseconds. */
export function longestUpstreamTimeout({ upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return Math.max(upstreamTimeoutMs, ...upstreamTimeouts.values());
}

/** However short the time-outs are, a busy database may take as long as this to admit a call. Milliseconds. */
const SHORTEST_LIFE_MS = 2_500;

/** What is sent in the last part of its time could still be on its way when it may be settled. */
const SENDABLE_SHARE = 0.8;

/**
 * Past this, a call that was released to be sent is on its way no more, if its process is gone. Milliseconds. Until then
 * nobody may settle it.
 */
export function overAfterMs(timeouts: Timeouts): number {
  return Math.max(longestUpstreamTimeout(timeouts), SHORTEST_LIFE_MS);
}

/**
 * Past this, a call that was released to be sent is not sent any more, whatever has kept it. Milliseconds. It is always less
 * than `overAfterMs`: a process that was frozen cannot send what somebody has settled meanwhile.
 */
export function sendableForMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) * SENDABLE_SHARE;
}

/** For how long an outcome is tried to be written. Milliseconds; longer than a Postgres takes to restart. */
export const OUTCOME_PATIENCE_MS = 60_000;

/**
 * The last try may wait for a batch before it, and each of the two be tried again, with a connection's five seconds and a
 * statement's ten.
 */
const LAST_TRY_MS = 2 * 2 * 16_000;

/** What was released to be sent longer ago than this, and has no outcome, will have none. Milliseconds. */
export function givenUpAfterMs(timeouts: Timeouts): number {
  return overAfterMs(timeouts) + OUTCOME_PATIENCE_MS + LAST_TRY_MS;
}

import { Config } from './config';

type Timeouts = Pick<Config, 'upstreamTimeoutMs' | 'upstreamTimeouts'>;

/** For how long one request of an operation may wait and be answered, together. Milliseconds. */
export function upstreamTimeoutOf(operation: string, { upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return upstreamTimeouts.get(operation) ?? upstreamTimeoutMs;
}

/** Past this no request of any operation is still on its way. Milliseconds. */
export function longestUpstreamTimeout({ upstreamTimeoutMs, upstreamTimeouts }: Timeouts): number {
  return Math.max(upstreamTimeoutMs, ...upstreamTimeouts.values());
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
  return longestUpstreamTimeout(timeouts) + OUTCOME_PATIENCE_MS + LAST_TRY_MS;
}

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

/** Before the upstream's time and after it, intent and outcome may each wait for a statement's ten seconds. */
const JOURNAL_GRACE_MS = 30_000;

/** What was released to be sent longer ago than this, and has no outcome, will have none. Milliseconds. */
export function givenUpAfterMs(timeouts: Timeouts): number {
  return longestUpstreamTimeout(timeouts) + JOURNAL_GRACE_MS;
}

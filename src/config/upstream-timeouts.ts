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

import { ApiError, type NetworkError } from '../errors.ts';

/** Number and pauses of the retries of one request. */
export interface Retries {
  /** Maximum number of retries. Default: 4. Those after `overloaded` do not count. 0 disables all. */
  most: number;
  /** First pause in milliseconds. Each further one is twice as long. Default: 500. */
  firstMs: number;
  /** Longest pause in milliseconds. A longer `Retry-After` ends the retries at once. Default: 30,000. */
  longestMs: number;
  /** Longest sum of the pauses after `overloaded`, in milliseconds. Default: 300,000. */
  busyMs: number;
}

export const DEFAULT_RETRIES: Retries = { most: 4, firstMs: 500, longestMs: 30_000, busyMs: 300_000 };

/** Longest delay of a timer. A longer one fires at once: https://nodejs.org/api/timers.html */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The pauses between the attempts of one request. */
export class Pauses {
  private failures = 0;
  private busyMs = 0;

  constructor(private readonly retries: Retries) {}

  /** Returns the pause after a failed attempt. Undefined ends the retries. */
  after(error: ApiError | NetworkError): number | undefined {
    const { most, longestMs, busyMs } = this.retries;
    const { code, retryAfterMs = 0 } = error instanceof ApiError ? error : {};
    if (most === 0 || retryAfterMs > longestMs) return undefined;
    if (code === 'overloaded' && retryAfterMs > 0) {
      // The proxy has measured when the request will have its turn. A later retry would lose it.
      this.busyMs += retryAfterMs;
      return this.busyMs > busyMs ? undefined : retryAfterMs;
    }
    this.failures += 1;
    if (this.failures > most) return undefined;
    return Math.max(backoff(this.failures, this.retries), retryAfterMs);
  }
}

/** Returns the pause after the nth attempt, which doubles up to `longestMs`. */
export const backoff = (
  attempt: number,
  { firstMs, longestMs }: Pick<Retries, 'firstMs' | 'longestMs'>,
): number => Math.min(longestMs, firstMs * 2 ** (attempt - 1));

/**
 * Waits for `ms`.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sleeping = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
  });
  await abortable(sleeping, signal).finally(() => clearTimeout(timer));
}

/**
 * Waits for a promise, which may have other callers.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function abortable<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise;
  let end: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    end = () => reject(reasonOf(signal));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', end));
}

/** Returns the reason of an aborted signal. Older runtimes have none. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  if (reason instanceof Error) return reason;
  return Object.assign(new Error('The request was aborted.', { cause: reason }), { name: 'AbortError' });
}

/** Number and pauses of the retries of one request. */
export interface Retries {
  /** Maximum number of retries. Default: 4. */
  most: number;
  /** First pause in milliseconds. Each further one is twice as long. Default: 500. */
  firstMs: number;
  /** Longest pause in milliseconds. A longer `Retry-After` ends the retries at once. Default: 30,000. */
  longestMs: number;
}

export const DEFAULT_RETRIES: Retries = { most: 4, firstMs: 500, longestMs: 30_000 };

/** Longest delay of a timer. A longer one fires at once: https://nodejs.org/api/timers.html */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Returns the pause before a retry. Undefined ends the retries. */
export function pauseBefore(
  attempt: number,
  retryAfterMs: number | undefined,
  retries: Retries,
): number | undefined {
  if (attempt > retries.most || (retryAfterMs ?? 0) > retries.longestMs) return undefined;
  return Math.max(backoff(attempt, retries), retryAfterMs ?? 0);
}

/** Returns the pause after the nth attempt, which doubles up to `longestMs`. */
export const backoff = (attempt: number, { firstMs, longestMs }: Retries): number =>
  Math.min(longestMs, firstMs * 2 ** (attempt - 1));

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

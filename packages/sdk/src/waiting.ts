/** How often and how soon a request is tried again. */
export interface Retries {
  /** The most further attempts of one request. */
  most: number;
  /** The first pause in milliseconds. Each further one is twice as long. */
  firstMs: number;
  /**
   * The longest pause in milliseconds. If the proxy asks for a longer one, the SDK gives up at once and says
   * so.
   */
  longestMs: number;
}

export const USUAL_RETRIES: Retries = { most: 4, firstMs: 500, longestMs: 30_000 };

/** A timer that is longer fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Returns the pause before a further attempt, or undefined if there is to be none. */
export function pauseBefore(
  attempt: number,
  retryAfterMs: number | undefined,
  retries: Retries,
): number | undefined {
  if (attempt > retries.most || (retryAfterMs ?? 0) > retries.longestMs) return undefined;
  return Math.max(growing(attempt, retries), retryAfterMs ?? 0);
}

/** Returns the pause before the nth attempt, which doubles up to the longest. */
export const growing = (attempt: number, { firstMs, longestMs }: Retries): number =>
  Math.min(longestMs, firstMs * 2 ** (attempt - 1));

/**
 * Waits.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sleeping = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
  });
  await orAborted(sleeping, signal).finally(() => clearTimeout(timer));
}

/**
 * Waits for a promise that others wait for, too.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function orAborted<Value>(
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

/** Returns why a signal was aborted. Old runtimes do not say. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  if (reason instanceof Error) return reason;
  return Object.assign(new Error('The request was aborted.', { cause: reason }), { name: 'AbortError' });
}

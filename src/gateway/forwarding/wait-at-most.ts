import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a promise for a limited time.
 * @returns undefined if it has not settled by then. It may still settle later.
 */
export async function waitAtMost<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer | undefined> {
  const stop = new AbortController();
  const over = sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  const first = await Promise.race([answer, over]);
  stop.abort();
  return first;
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for an answer no longer than a time. @returns undefined if it has not come by then; it may still come. */
export async function waitAtMost<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer | undefined> {
  const stop = new AbortController();
  const over = sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  const first = await Promise.race([answer, over]);
  stop.abort();
  return first;
}

import { ExponentialBackoff, handleWhenResult, retry } from 'cockatiel';
import { Answer, NOT_CONNECTED } from '../answers/answer';

const RETRIES = 2;

/** Short, because an app waits for it. With jitter, so that reads that failed together are not repeated together. */
const BACKOFF_MS = { initialDelay: 100, maxDelay: 500 };

/**
 * Failures that may have passed by the next attempt: the network failed, or an intermediary answered in place of the
 * upstream.
 */
const PASSING: ReadonlySet<Answer['failure']> = new Set([...NOT_CONNECTED, ...(['reset', 'unreadable'] as const)]);
const PASSING_STATUSES: ReadonlySet<number | null> = new Set([502, 503, 504]);

interface Attempt {
  answer: Answer;
  /** On the monotonic clock. */
  deadline: number;
}

/** Repeats a read while there is time. Use it only for reads. Requests that pay or write are sent once. */
export const readAgain = retry(
  handleWhenResult((result) => {
    const { answer, deadline } = result as Attempt;
    return mayPass(answer) && performance.now() + BACKOFF_MS.maxDelay < deadline;
  }),
  { maxAttempts: RETRIES, backoff: new ExponentialBackoff(BACKOFF_MS) },
);

function mayPass({ failure, status }: Answer): boolean {
  return PASSING.has(failure) || (failure === 'server_error' && PASSING_STATUSES.has(status));
}

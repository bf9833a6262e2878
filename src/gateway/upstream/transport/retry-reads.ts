import { ExponentialBackoff, handleWhenResult, retry } from 'cockatiel';
import { Answer, NOT_CONNECTED } from '../answers/answer';

const RETRIES = 2;

/** Short, because an app waits. Jitter spreads reads that failed together. */
const BACKOFF_MS = { initialDelay: 100, maxDelay: 500 };

/** Transient failures: of the network, or of an intermediary that answered in place of the upstream. */
const TRANSIENT_FAILURES: ReadonlySet<Answer['failure']> = new Set([
  ...NOT_CONNECTED,
  ...(['reset', 'unreadable'] as const),
]);
const TRANSIENT_STATUSES: ReadonlySet<number | null> = new Set([502, 503, 504]);

interface Attempt {
  answer: Answer;
  /** On the monotonic clock. */
  deadline: number;
}

/** Repeats a read until its deadline. Only for reads: requests that pay or write are sent once. */
export const retryReads = retry(
  handleWhenResult((result) => {
    const { answer, deadline } = result as Attempt;
    return isTransient(answer) && performance.now() + BACKOFF_MS.maxDelay < deadline;
  }),
  { maxAttempts: RETRIES, backoff: new ExponentialBackoff(BACKOFF_MS) },
);

function isTransient({ failure, status }: Answer): boolean {
  return TRANSIENT_FAILURES.has(failure) || (failure === 'server_error' && TRANSIENT_STATUSES.has(status));
}

import { ExponentialBackoff, handleWhenResult, retry } from 'cockatiel';
import { Answer, NOT_CONNECTED } from './answer';

const RETRIES = 2;

/** Short, as an app waits for it; with jitter, so that the reads which one hiccup failed do not come back together. */
const BACKOFF_MS = { initialDelay: 100, maxDelay: 500 };

/** What may pass by the next time: the network failed, or something in between answered in the upstream's stead. */
const PASSING: ReadonlySet<Answer['failure']> = new Set([...NOT_CONNECTED, ...(['reset', 'unreadable'] as const)]);
const PASSING_STATUSES: ReadonlySet<number | null> = new Set([502, 503, 504]);

interface Attempt {
  answer: Answer;
  /** On the monotonic clock. */
  deadline: number;
}

/** Repeats what reads, while there is time. Nothing else may be given to it: what pays or writes is sent once. */
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

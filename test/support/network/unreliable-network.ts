import { randomNumbers } from '../../../src/sandbox/faults/faults';

/** Probability of each failure per request, in percent. */
const REFUSED = 3;
const LOST_BEFORE = 3;
const LOST_ANSWER = 6;
const ABANDONED = 6;

/** Maximum duration before a request is abandoned, in ms. Most have arrived by then, and few are answered. */
const ABANDONED_WITHIN_MS = 30;

/**
 * Returns a `fetch` that loses requests and answers. The seed alone determines the fate of the nth request.
 */
export function unreliableFetch(seed: number): typeof fetch {
  const random = randomNumbers(seed);
  return async (input, init) => {
    const [fate, ms] = [random() * 100, random() * ABANDONED_WITHIN_MS];
    if (fate < REFUSED) throw failure('ECONNREFUSED');
    if (fate < REFUSED + LOST_BEFORE) throw failure('ECONNRESET');
    if (fate < REFUSED + LOST_BEFORE + ABANDONED) {
      const abandoned = AbortSignal.timeout(Math.floor(ms));
      return fetch(input, { ...init, signal: AbortSignal.any([abandoned, init?.signal ?? abandoned]) });
    }
    const response = await fetch(input, init);
    if (fate >= 100 - LOST_ANSWER) {
      await response.arrayBuffer();
      throw failure('ECONNRESET');
    }
    return response;
  };
}

const failure = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

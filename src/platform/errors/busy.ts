import { repeatable } from './kinds';

/**
 * Errors of callers who ask for more than their share, or than can be served now. Each is safe to send again.
 */
export const BUSY = {
  ...repeatable(429, 'retry_same_key', 60, {
    rate_limited: 'Your client has used all its requests for this minute. Try again later.',
    too_many_attempts: 'Too many wrong keys or tokens came from your IP address. Try again later.',
  }),
  ...repeatable(429, 'retry_same_key', 1, {
    too_many_at_once:
      'Your key has too many concurrent requests of this kind. Wait for one to end, and try again.',
  }),
  ...repeatable(429, 'retry_same_key', 5, {
    too_many_faults: 'Your key sent too many long bodies with errors. Correct them, or send them one by one.',
  }),
  ...repeatable(503, 'retry_same_key', 1, {
    readers_busy: 'This instance has too many concurrent requests of this kind. Try again later.',
  }),
  ...repeatable(503, 'retry_same_key', 30, {
    too_many_runs: 'Too many reconciliation runs are in progress. Try again later.',
  }),
  ...repeatable(503, 'retry_same_key', 1, {
    upstream_busy:
      'The payout service is limiting the requests of the proxy. The request was not carried out. You may ' +
      'use the same Idempotency-Key again, after Retry-After.',
  }),
  ...repeatable(503, 'retry_same_key', 2, {
    overloaded:
      'The proxy or the payout service has more requests than it can handle in time. Nothing was sent. ' +
      'Send the request again after Retry-After, with the same Idempotency-Key if it had one.',
  }),
};

/** Errors of callers who ask for more than their share, or than can be served now. Each is safe to send again. */
export const BUSY = {
  rate_limited: {
    status: 429,
    text: 'Your client has used all its requests for this minute. Try again later.',
    retryAfter: 60,
  },
  too_many_attempts: {
    status: 429,
    text: 'Too many requests with wrong keys or tokens came from your address. Try again later.',
    retryAfter: 60,
  },
  too_many_at_once: {
    status: 429,
    text: 'Your key has too many requests of this kind at once. Wait for one to end, and try again.',
    retryAfter: 1,
  },
  too_many_faults: {
    status: 429,
    text: 'Your key keeps sending long bodies with faults. Correct them, or send them one by one.',
    retryAfter: 5,
  },
  readers_busy: {
    status: 503,
    text: 'This instance has too many requests of this kind. Try again later.',
    retryAfter: 1,
  },
  too_many_runs: {
    status: 503,
    text: 'Too many reconciliation runs are in progress. Try again later.',
    retryAfter: 30,
  },
  upstream_busy: {
    status: 503,
    text: 'The payout service is limiting the proxy. The request was not carried out. The same Idempotency-Key may be used again, after Retry-After.',
    retryAfter: 1,
  },
  overloaded: {
    status: 503,
    text: 'The proxy or the payout service has more requests than it can handle in time. Nothing was sent. Send the request again after Retry-After, with the same Idempotency-Key if it had one.',
    retryAfter: 2,
  },
} as const;

/** Errors of a part of the service that fails or is stopped. Nothing was sent. */
export const OUTAGES = {
  no_worker: {
    status: 503,
    text: 'No worker is running, so this cannot be done now. Start a worker, or try again later.',
    retryAfter: 10,
  },
  not_ready: { status: 503, text: 'The proxy cannot serve requests at the moment.' },
  database_unavailable: {
    status: 503,
    text: 'The database of the proxy cannot be reached. The request was not sent. Send it again in a moment, with the same Idempotency-Key.',
    retryAfter: 1,
  },
  storage_full: {
    status: 503,
    text: 'The proxy has no space left to record requests. Nothing was sent. Send the request again later, with the same Idempotency-Key.',
    retryAfter: 30,
  },
  storage_failing: {
    status: 503,
    text: 'The storage of the proxy fails. Nothing was sent. Send the request again later, with the same Idempotency-Key.',
    retryAfter: 60,
  },
  database_read_only: {
    status: 503,
    text: 'The database of the proxy accepts no changes now. Nothing was sent. Send the request again later, with the same Idempotency-Key.',
    retryAfter: 10,
  },
  database_busy: {
    status: 503,
    text: 'The database of the proxy accepts no more connections. Nothing was sent. Send the request again later, with the same Idempotency-Key.',
    retryAfter: 5,
  },
  upstream_unreachable: {
    status: 503,
    text: 'The payout service cannot be reached, or fails most requests. Nothing was sent. It is safe to send the request again after Retry-After.',
    retryAfter: 1,
  },
  account_not_configured: {
    status: 503,
    text: 'Your client belongs to an account at the payout service that this instance of the proxy does not know. Nothing was sent. Ask the operator to add the account to UPSTREAM_ACCOUNTS.',
    retryAfter: 5,
  },
  too_late: {
    status: 503,
    text: 'The request could not be sent in time. Nothing was sent or paid. Send it again, with the same Idempotency-Key if it had one.',
    retryAfter: 1,
  },
  stopped: { status: 503, text: 'The operator has stopped this operation. Nothing was sent.' },
  instance_fenced: {
    status: 503,
    text: 'This instance of the proxy does not pay or write at the moment, so that nothing is paid twice. Nothing was sent. Send the request again later, with the same Idempotency-Key if it had one.',
    retryAfter: 5,
  },
  screening_unavailable: {
    status: 503,
    text: 'The recipients could not be screened. Nothing was sent. Send the request again, with the same Idempotency-Key if it had one.',
    retryAfter: 5,
  },
  sandbox_unreachable: { status: 503, text: 'The sandbox does not respond. Restart the proxy to restart the sandbox.' },
} as const;

/** The codes of a database that fails. A request with one of them may have been admitted by a commit that was not confirmed. */
export const DATABASE_CODES = [
  'database_unavailable',
  'storage_full',
  'storage_failing',
  'database_read_only',
  'database_busy',
] as const;
export type DatabaseCode = (typeof DATABASE_CODES)[number];

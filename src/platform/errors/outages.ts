import { kinds, repeatable } from './kinds';

/** Errors of callers that exceed a quota, or the capacity. Each request is safe to send again. */
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
  ...repeatable(503, 'wait', 1, {
    upstream_busy:
      'The payout service is limiting the requests of the proxy. It is not proven yet that nothing was ' +
      'carried out. GET /v1/calls/{call_id} shows the outcome after Retry-After. If nothing was carried ' +
      'out, you may use the same Idempotency-Key again.',
  }),
  ...repeatable(503, 'retry_same_key', 2, {
    overloaded:
      'The proxy or the payout service has more requests than it can handle in time. Nothing was sent. ' +
      'Send the request again after Retry-After, with the same Idempotency-Key if it had one.',
  }),
};

/** Errors of a failing or stopped part of the service. Nothing was sent. */
export const OUTAGES = {
  ...repeatable(503, 'retry_same_key', 10, {
    no_worker: 'No worker is running. Nothing was done. Start a worker, or try again later.',
  }),
  ...kinds(503, 'retry_same_key', {
    not_ready: 'The proxy cannot serve requests now.',
  }),
  ...repeatable(503, 'retry_same_key', 1, {
    database_unavailable:
      'The database of the proxy cannot be reached. The request was not sent. Send it again in a ' +
      'moment, with the same Idempotency-Key.',
  }),
  ...repeatable(503, 'retry_same_key', 30, {
    storage_full:
      'The proxy has no space left to record requests. Nothing was sent. Send the request again later, ' +
      'with the same Idempotency-Key.',
  }),
  ...repeatable(503, 'retry_same_key', 60, {
    storage_failing:
      'The storage of the proxy is failing. Nothing was sent. Send the request again later, with the same ' +
      'Idempotency-Key.',
  }),
  ...repeatable(503, 'retry_same_key', 10, {
    database_read_only:
      'The database of the proxy is read-only. Nothing was sent. Send the request again later, with the ' +
      'same Idempotency-Key.',
  }),
  ...repeatable(503, 'retry_same_key', 5, {
    database_busy:
      'The database of the proxy accepts no more connections. Nothing was sent. Send the request again ' +
      'later, with the same Idempotency-Key.',
  }),
  ...repeatable(503, 'retry_same_key', 1, {
    upstream_unreachable:
      'The payout service cannot be reached, or fails most requests. Nothing was sent. It is safe to ' +
      'send the request again after Retry-After.',
  }),
  ...repeatable(503, 'retry_same_key', 5, {
    account_not_configured:
      'The account of your client at the payout service is not configured on this instance. Nothing was ' +
      'sent. Ask the operator to add the account to UPSTREAM_ACCOUNTS.',
  }),
  ...repeatable(503, 'retry_same_key', 1, {
    too_late:
      'The request could not be sent in time. Nothing was sent or paid. Send it again, with the same ' +
      'Idempotency-Key if it had one.',
  }),
  ...kinds(503, 'ask', {
    stopped: 'The operator has stopped this operation. Nothing was sent.',
  }),
  ...repeatable(503, 'retry_same_key', 5, {
    instance_fenced:
      'This instance does not pay or write at the moment, to prevent double payments. Nothing was sent. ' +
      'Send the request again later, with the same Idempotency-Key if it had one.',
    screening_unavailable:
      'The recipients could not be screened. Nothing was sent. Send the request again, with the same ' +
      'Idempotency-Key if it had one.',
  }),
  ...kinds(503, 'ask', {
    sandbox_unreachable: 'The sandbox does not respond. Restart the proxy to restart the sandbox.',
  }),
};

/** The codes of a failing database. An unconfirmed commit may have admitted the request. */
export const DATABASE_CODES = [
  'database_unavailable',
  'storage_full',
  'storage_failing',
  'database_read_only',
  'database_busy',
] as const;
export type DatabaseCode = (typeof DATABASE_CODES)[number];

import { NOT_FOUND } from './not-found';

export interface Kind {
  /** HTTP status. */
  status: number;
  /** What happened and what the caller can do; a thrower may say it more exactly. */
  text: string;
  /** Seconds for `Retry-After`, where trying again is safe and makes sense. */
  retryAfter?: number;
}

/** Every error the proxy answers with, by its code. The only map from errors to statuses. */
export const PROBLEMS = {
  invalid_request: { status: 400, text: 'The request is not valid; correct what "errors" lists.' },
  not_served: {
    status: 400,
    text: 'The payout service does not pay out to where an item goes; nothing was sent. "errors" lists what it serves.',
  },
  amount_required: {
    status: 400,
    text: 'Your client has a limit in US dollars, so every payout must say its amount; "errors" lists the items that do not.',
  },
  idempotency_key_required: {
    status: 400,
    text: 'Your client must send a header Idempotency-Key with this operation: a new one for each payout (a UUID, say), the same one when it is sent again.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'Idempotency-Key must be 1 to 255 printable ASCII characters without blanks, bare or in double quotes; send it once.',
  },
  invalid_allow_duplicate_of: {
    status: 400,
    text: 'Allow-Duplicate-Of must be the id of one call, a UUID; "first_call_id" of the refusal has it. Nothing was sent.',
  },
  invalid_actor: {
    status: 400,
    text: 'X-Actor must be 1 to 128 letters, digits and the characters _ . : = / -. Name the person by an id, not by an e-mail address or phone number: records keep it.',
  },
  invalid_people: {
    status: 400,
    text: 'X-People has one value, masked: people are then masked in the answer, whatever the key may see. Send that, or leave it out; nothing was shown.',
  },
  key_revoked: {
    status: 409,
    text: 'The key that asked for this was revoked or has expired since; nothing was sent. Reject it, or let it be asked for again.',
  },
  no_longer_allowed: {
    status: 409,
    text: 'The client that asked for this may not do it any more. Nothing was sent and it still waits. Change what the client may do, or reject it.',
  },
  missing_key: { status: 401, text: 'Send your API key in the header X-API-Key.' },
  invalid_key: { status: 401, text: 'This API key is unknown, expired or revoked; ask the operator for a new one.' },
  session_ended: {
    status: 401,
    text: 'You are not signed in any more: your session was idle for too long, or its key was revoked. Sign in again.',
  },
  invalid_signature: {
    status: 401,
    text: 'This event is not signed with the secret that we share; check UPSTREAM_WEBHOOK_SECRET and what signs it.',
  },
  stale_event: {
    status: 400,
    text: 'This event was signed more than five minutes ago, or ahead; deliver it with a new timestamp and signature.',
  },
  scope_missing: { status: 403, text: 'This API key does not have the scope that the operation needs.' },
  operation_not_allowed: {
    status: 403,
    text: 'This operation is switched off for your client; ask the operator to allow it.',
  },
  cap_exceeded: { status: 403, text: 'This is over a limit of your client; nothing was sent.' },
  too_many_items: { status: 403, text: 'This has more items than your client may send in one call; nothing was sent.' },
  country_not_allowed: { status: 403, text: 'Your client may not pay to a country of this request; nothing was sent.' },
  address_not_allowed: {
    status: 403,
    text: 'Your client may not call from this address; ask the operator to allow it.',
  },
  origin_not_allowed: { status: 403, text: 'Pages of this origin may not use this key; ask the operator to allow it.' },
  csrf: {
    status: 403,
    text: 'Whoever is signed in by a cookie must say X-CSRF-Token with what changes anything, from a page of this proxy; GET /v1/session tells it.',
  },
  no_session: { status: 403, text: 'Sign in with a key in the header X-API-Key; one session does not begin another.' },
  own_approval: {
    status: 403,
    text: 'Nobody approves what they asked for: this needs another client, another key and another person.',
  },
  approval_rejected: { status: 403, text: 'An approver has rejected this; nothing was sent.' },
  approval_expired: {
    status: 403,
    text: 'Nobody approved this in time; nothing was sent. To ask again, send it with a new Idempotency-Key.',
  },
  expectation_not_met: {
    status: 417,
    text: 'The header Expect may only say 100-continue; leave it out.',
  },
  headers_too_large: {
    status: 431,
    text: 'The headers of the request are longer than 16 KiB; nothing was done. Send fewer or shorter ones.',
  },
  request_timeout: {
    status: 408,
    text: 'The request did not come in whole in time; nothing was done. Send it again on a new connection.',
  },
  ...NOT_FOUND,
  not_sealed: {
    status: 409,
    text: 'This was recorded a moment ago and is not sealed yet; it is within seconds. Ask again.',
    retryAfter: 1,
  },
  request_in_progress: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still being carried out; send this one again in a moment, with the same key.',
    retryAfter: 1,
  },
  run_in_progress: {
    status: 409,
    text: 'Another run of this period is at work; wait for its end.',
    retryAfter: 10,
  },
  run_not_ended: {
    status: 409,
    text: 'This run has not ended yet; GET /v1/reconciliation/runs/{id} tells how far it is.',
    retryAfter: 10,
  },
  suspected_duplicate: {
    status: 409,
    text: 'The same request is in progress, in doubt, held for an approval, or was carried out a short time ago. Nothing was sent. GET /v1/calls/{id} shows what becomes of the call in "first_call_id". Only to carry it out in addition to that call, send it again with the header Allow-Duplicate-Of and that id.',
  },
  finding_changed: {
    status: 409,
    text: 'Some findings are not as they were, or cannot become what was decided; nothing was changed. "errors" lists them: look at them again.',
  },
  demo_key_missing: {
    status: 409,
    text: 'The demo client app has no key that opens anything; delete demo-keys.json in DATA_DIR and start the proxy again, which issues new ones.',
  },
  client_exists: { status: 409, text: 'There is a client of this name already.' },
  already_decided: {
    status: 409,
    text: 'This was decided already, or its time to be decided is over; nothing was changed. GET /v1/approvals/{id} shows which.',
  },
  not_in_doubt: {
    status: 409,
    text: 'Only a call in doubt can be settled by hand, and not before its time to be answered is over.',
  },
  resolution_superseded: {
    status: 409,
    text: 'Another resolution holds by now, so nothing was changed. Read the call again before you correct it.',
  },
  resolver_busy: {
    status: 409,
    text: 'Another instance is looking at the calls in doubt right now; ask again when it is done.',
  },
  content_changed: {
    status: 409,
    text: 'What is kept of this call is not what was asked, so it will not be sent. The operator has to look into this.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key belongs to another request; use a new key for a new payout.',
  },
  listing_missing: {
    status: 422,
    text: "No whole listing of the upstream's transactions of this period was read by then.",
  },
  rate_limited: {
    status: 429,
    text: 'Your client has made all its requests of this minute; try again later.',
    retryAfter: 60,
  },
  too_many_attempts: {
    status: 429,
    text: 'Too many requests with wrong keys came from your address; try again later.',
    retryAfter: 60,
  },
  too_many_streams: {
    status: 429,
    text: 'Your key has as many streams or exports open as one key may. Close one, or try again when one has ended.',
    retryAfter: 10,
  },
  too_many_exports: {
    status: 503,
    text: 'As many exports as this instance streams at once are under way; try again when one of them is done.',
    retryAfter: 10,
  },
  too_many_runs: {
    status: 503,
    text: 'As many runs as this instance carries out at once are at work; try again when one of them has ended.',
    retryAfter: 30,
  },
  not_ready: { status: 503, text: 'The database cannot be reached, or the proxy is stopping.' },
  internal_error: { status: 500, text: 'A fault of ours; nothing was sent. Tell the operator the call_id.' },
  database_unavailable: {
    status: 503,
    text: 'Our database cannot be reached; the request was not sent. Send it again in a moment, with the same Idempotency-Key.',
    retryAfter: 1,
  },
  upstream_auth: {
    status: 502,
    text: 'The payout service refused our credentials; nothing was carried out. Tell the operator, who has to mend this. Then send the request again with the same Idempotency-Key, if it had one.',
  },
  upstream_busy: {
    status: 503,
    text: 'The payout service is limiting us; nothing was carried out. Send the request again after Retry-After, with the same Idempotency-Key, if it had one.',
    retryAfter: 1,
  },
  upstream_overloaded: {
    status: 503,
    text: 'The payout service is slow and too many requests wait for it; this one was not sent. It is safe to send it again.',
    retryAfter: 2,
  },
  stopped: { status: 503, text: 'The operator has stopped this; nothing was sent.' },
  upstream_unreachable: {
    status: 503,
    text: 'The payout service cannot be reached; nothing was sent. It is safe to send the request again.',
    retryAfter: 1,
  },
  too_late: {
    status: 503,
    text: 'Too much time passed before this could be sent, so it was not sent and nothing was paid. Send it again, with the same Idempotency-Key if it had one.',
    retryAfter: 1,
  },
  sandbox_unreachable: { status: 503, text: 'The sandbox does not answer; start the proxy again to bring it back.' },
  answer_erased: {
    status: 409,
    text: 'The payout service rejected this; its answer is no longer kept. To try again, send it with a new Idempotency-Key.',
  },
  outcome_unknown: {
    status: 502,
    text: 'It is unknown whether the payout service carried this out. Do not send it again; ask GET /v1/calls/{call_id} what became of it.',
  },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

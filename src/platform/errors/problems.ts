import { BUSY } from './busy';
import { NOT_FOUND } from './not-found';
import { OUTAGES } from './outages';
import { SIGN_IN_PROBLEMS } from './sign-in-problems';
import { TOKEN_PROBLEMS } from './token-problems';
import { TRANSPORT } from './transport';

export interface Kind {
  /** HTTP status. */
  status: number;
  /** What happened, and what the caller can do. A Problem can have a more specific text. */
  text: string;
  /** Seconds for `Retry-After`, if it is safe and useful to try again. */
  retryAfter?: number;
}

/** Every error that the proxy answers with, by its code. The only map from errors to statuses. */
export const PROBLEMS = {
  invalid_request: { status: 400, text: 'The request is invalid. Correct the fields that "errors" lists.' },
  not_served: {
    status: 400,
    text: 'The payout service does not pay out to the destination of an item. Nothing was sent. "errors" lists the supported values.',
  },
  amount_required: {
    status: 400,
    text: 'Your client has a limit in US dollars, so every payout must state its amount. "errors" lists the items without one.',
  },
  foreign_number: {
    status: 400,
    text: 'A phone number in this request belongs to another country than its item states. Nothing was sent. "errors" lists the items.',
  },
  idempotency_key_required: {
    status: 400,
    text: 'Your client must send the header Idempotency-Key with this operation. Use a new key (for example, a UUID) for each payout, and the same key when you retry it.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces, bare or in double quotes. Send the header once.',
  },
  invalid_allow_duplicate_of: {
    status: 400,
    text: 'Allow-Duplicate-Of must be the ID of one call, a UUID. The refusal states it in "first_call_id". Nothing was sent.',
  },
  invalid_actor: {
    status: 400,
    text: 'X-Actor must be 1 to 128 letters, digits, and the characters _ . : = / -. Records keep it, so identify the person by an ID, not by an email address or phone number.',
  },
  person_required: {
    status: 403,
    text: 'The persons of your client have limits, so every payment must name its person. Send the header X-Actor with the ID of the person. Nothing was sent.',
  },
  invalid_people: {
    status: 400,
    text: 'X-People accepts only the value "masked", which masks people in the response whatever the key may see. Send that value or omit the header. Nothing was shown.',
  },
  key_revoked: {
    status: 409,
    text: 'The credentials that made this request were revoked or have expired. Nothing was sent. Reject the request, or have it made again.',
  },
  no_longer_allowed: {
    status: 409,
    text: "The client that made this request may no longer do this. Nothing was sent, and the request is still pending. Change the client's permissions, or reject the request.",
  },
  missing_key: {
    status: 401,
    text: 'Send your API key in the header X-API-Key, or an access token in the header Authorization. On a page, sign in first.',
  },
  invalid_key: { status: 401, text: 'This API key is unknown, expired, or revoked. Ask the operator for a new one.' },
  ephemeral_key_ended: {
    status: 401,
    text: "This ephemeral key has expired or was revoked. Nothing was done. Get a new one from your app's server, and send the request again with it and with the same Idempotency-Key.",
  },
  ...TOKEN_PROBLEMS,
  session_ended: {
    status: 401,
    text: 'Nobody is signed in, or the session has ended. Sign in again. If you repeat a payment after that, send the same Idempotency-Key.',
  },
  invalid_signature: {
    status: 401,
    text: 'The signature of this event does not match the shared secret. Check UPSTREAM_WEBHOOK_SECRET and the sender of the event.',
  },
  stale_event: {
    status: 400,
    text: 'The timestamp of this event differs from the current time by more than five minutes. Deliver the event with a new timestamp and signature.',
  },
  secret_key_required: {
    status: 403,
    text: "This route requires a secret key of an app's server. An ephemeral key, an access token or a session does not open it.",
  },
  wider_than_key: {
    status: 403,
    text: 'An ephemeral key may do no more than the key that makes it, and the person who gets it. "errors" lists everything that goes beyond. No key was made.',
  },
  scope_missing: { status: 403, text: 'This API key does not have the scope that the operation requires.' },
  operation_not_allowed: { status: 403, text: 'Your client may not use this operation. Ask the operator to allow it.' },
  cap_exceeded: { status: 403, text: 'This request exceeds a limit of your client. Nothing was sent.' },
  too_many_items: {
    status: 403,
    text: 'This request has more items than your client may send in one call. Nothing was sent.',
  },
  country_not_allowed: { status: 403, text: 'Your client may not pay to a country in this request. Nothing was sent.' },
  recipient_not_allowed: {
    status: 403,
    text: 'Your client may not pay a recipient in this request. Nothing was sent. "errors" lists the items.',
  },
  wallet_not_allowed: {
    status: 403,
    text: 'The transfers of your client take from another wallet. Nothing was sent. "errors" lists the field.',
  },
  screening_denied: {
    status: 403,
    text: 'The screening of recipients does not allow this request. Nothing was sent.',
  },
  address_not_allowed: {
    status: 403,
    text: 'Your client may not call from this address. Ask the operator to allow it.',
  },
  origin_not_allowed: { status: 403, text: 'Pages of this origin may not call. Ask the operator to allow it.' },
  key_in_browser: {
    status: 403,
    text: 'Secret keys must not be in a page, because everybody who opens it can read them. Use an ephemeral key that your server makes, an access token or a page session. Revoke this key if the page is public.',
  },
  csrf: {
    status: 403,
    text: 'Sessions must send the header X-CSRF-Token: pages with every request, and the console with every change, from its own pages. GET /v1/page-sessions/{client} and GET /v1/session return it.',
  },
  no_session: {
    status: 403,
    text: 'Sign in with a key in the header X-API-Key. A session cannot start another session.',
  },
  own_approval: {
    status: 403,
    text: 'You cannot approve your own request. Approval requires another client, another key, and another person.',
  },
  personal_key_required: {
    status: 403,
    text: 'A second person must agree to this, so it needs a key that belongs to a person. Nothing was changed. Ask the operator for one.',
  },
  claim_not_found: {
    status: 404,
    text: 'No key can be claimed with this. It was claimed or revoked, its time is over, or it belongs to another person. Nothing was changed. Ask an administrator to request a new key.',
  },
  approval_rejected: { status: 403, text: 'An approver rejected this request. Nothing was sent.' },
  approval_expired: {
    status: 403,
    text: 'Nobody approved this request in time. Nothing was sent. To ask again, send it with a new Idempotency-Key.',
  },
  ...TRANSPORT,
  ...NOT_FOUND,
  ...BUSY,
  ...OUTAGES,
  ...SIGN_IN_PROBLEMS,
  not_sealed: {
    status: 409,
    text: 'This record is seconds old and not sealed yet. Try again in a moment.',
    retryAfter: 1,
  },
  request_in_progress: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still in progress. Send this request again in a moment, with the same key.',
    retryAfter: 1,
  },
  run_in_progress: {
    status: 409,
    text: 'Another run of this period is in progress. Wait until it ends.',
    retryAfter: 10,
  },
  run_not_ended: {
    status: 409,
    text: 'This run is still in progress. GET /v1/reconciliation/runs/{id} shows its progress.',
    retryAfter: 10,
  },
  suspected_duplicate: {
    status: 409,
    text: 'The same request is in progress, in doubt, pending approval, or was carried out a short time ago. Nothing was sent. GET /v1/calls/{id} shows the state of the call in "first_call_id". To pay in addition to that call, send the request again with the header Allow-Duplicate-Of and that ID.',
  },
  finding_changed: {
    status: 409,
    text: 'Some findings have changed since you read them, or cannot take this decision. Nothing was changed. "errors" lists them. Read them again.',
  },
  demo_key_missing: {
    status: 409,
    text: 'The demo client "app" has no working key. Delete demo-keys.json in DATA_DIR and restart the proxy to issue new keys.',
  },
  incompatible_scopes: {
    status: 409,
    text: 'These scopes must not meet in one hand. Nothing was changed. Give them to clients of different persons.',
  },
  change_superseded: {
    status: 409,
    text: 'The client, its keys, or the rights of the requester have changed since. Nothing was changed. Request the change again.',
  },
  change_decided: {
    status: 409,
    text: 'This change was already decided, or its time has passed. Nothing was changed. Request it again.',
  },
  provider_taken: {
    status: 409,
    text: 'Another client has this token_issuer with this token_client_id, or this page_issuer with this page_client_id. Nothing was changed. Give each client an app of its own at the provider.',
  },
  public_client: {
    status: 409,
    text: 'A public client has no secret keys. Let its people send access tokens of its provider, or issue the key to a client of the kind server.',
  },
  client_exists: { status: 409, text: 'A client with this name already exists.' },
  already_decided: {
    status: 409,
    text: 'This request was already decided, or its time for a decision has passed. Nothing was changed. GET /v1/approvals/{id} shows its status.',
  },
  not_in_doubt: {
    status: 409,
    text: 'Only payouts in doubt can be settled by hand, and only after the deadline of their answer has passed. To correct others, send `supersedes`.',
  },
  resolution_superseded: {
    status: 409,
    text: 'A newer settlement is in effect, so nothing was changed. Read the call again before you correct it.',
  },
  recovery_required: {
    status: 409,
    text: 'The proxy set this stop because its database is older than it was. Run database recover first. Nothing was changed.',
  },
  content_lost: { status: 409, text: 'This call was restored without its content, so it cannot be sent. Reject it.' },
  content_changed: {
    status: 409,
    text: 'The stored content of this call does not match its record, so it was not sent. Ask the operator to investigate.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'The call in "first_call_id" has this Idempotency-Key, and its request was different. It may be the same payout with other details. GET /v1/calls/{id} shows it. Use a new key only for a payout in addition to that call.',
  },
  listing_missing: {
    status: 422,
    text: "No complete listing of the upstream's transactions of this period had been read by then.",
  },
  internal_error: { status: 500, text: 'The proxy failed. Nothing was sent. Give the call_id to the operator.' },
  upstream_auth: {
    status: 502,
    text: 'The payout service refused the credentials of the proxy. The request was not carried out. The same Idempotency-Key may be used again. Tell the operator, who has to correct the credentials.',
  },
  answer_erased: {
    status: 409,
    text: 'The payout service rejected this request, and its answer is no longer stored. To try again, send the request with a new Idempotency-Key.',
  },
  outcome_unknown: {
    status: 502,
    text: 'The outcome is unknown: the payout service may have carried this out. Do not send it again. GET /v1/calls/{call_id} shows its outcome once it is known.',
  },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

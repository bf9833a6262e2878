import { SIGN_IN_PROBLEMS, TOKEN_PROBLEMS } from './credential-problems';
import { kinds, repeatable } from './kinds';
import { NOT_FOUND } from './not-found';
import { BUSY, OUTAGES } from './outages';
import { TRANSPORT } from './transport';

/** Every error of the proxy by its code. The only map from errors to statuses. */
export const PROBLEMS = {
  ...kinds(400, 'fix_request', {
    invalid_request: 'The request is invalid. Correct the fields that "errors" lists.',
    not_served:
      'The payout service does not pay out to the destination of an item. Nothing was sent. "errors" ' +
      'lists the supported values.',
    amount_required:
      'Your client has a limit in US dollars, so every payout must state its amount. "errors" lists the ' +
      'items without one.',
    foreign_number:
      'A phone number in this request belongs to another country than its item states. Nothing was ' +
      'sent. "errors" lists the items.',
    idempotency_key_required:
      'Your client must send the header Idempotency-Key with this operation. Use a new key (for ' +
      'example, a UUID) for each payout, and the same key when you retry it.',
    invalid_idempotency_key:
      'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces, bare or in double ' +
      'quotes. Send the header once.',
    invalid_allow_duplicate_of:
      'Allow-Duplicate-Of must be the ID of one call, a UUID. The refusal states it in "first_call_id". ' +
      'Nothing was sent.',
    invalid_actor:
      'X-Actor must be 1 to 128 letters, digits, and the characters _ . : = / -. It is recorded, so use ' +
      'the ID of the person, not an email address or phone number.',
  }),
  ...kinds(403, 'fix_request', {
    person_required:
      'Your client has limits per person, so every payment must name its person. Nothing was sent. Send ' +
      'the ID of the person in the header X-Actor.',
  }),
  ...kinds(400, 'fix_request', {
    invalid_people:
      'X-People accepts only the value "masked", which masks people in the response. No data was ' +
      'returned. Send that value or omit the header.',
  }),
  ...kinds(409, 'ask', {
    key_revoked:
      'The credential that made this request was revoked or has expired. Nothing was sent. Reject the ' +
      'request, or ask the requester to send it again.',
    no_longer_allowed:
      'The client that made this request may no longer do this. Nothing was sent, and the request is ' +
      "still pending. Change the client's permissions, or reject the request.",
  }),
  ...kinds(401, 'fix_request', {
    missing_key:
      'Send your API key in the header X-API-Key, or an access token in the header Authorization. On a ' +
      'page, sign in first.',
  }),
  ...kinds(401, 'ask', {
    invalid_key: 'This API key is unknown, expired, or revoked. Ask the operator for a new one.',
  }),
  ...kinds(401, 'fix_request', {
    ephemeral_key_ended:
      "This ephemeral key has expired or was revoked. Nothing was done. Get a new one from your app's " +
      'server, and send the request again with the same Idempotency-Key.',
  }),
  ...TOKEN_PROBLEMS,
  ...kinds(401, 'ask', {
    session_ended:
      'You are not signed in, or the session has ended. Sign in again. To repeat a payment after that, ' +
      'send the same Idempotency-Key.',
    invalid_signature:
      'The signature of this event does not match the shared secret. Check UPSTREAM_WEBHOOK_SECRET and ' +
      'the sender of the event.',
  }),
  ...kinds(400, 'fix_request', {
    stale_event:
      'The timestamp of this event differs from the current time by more than five minutes. Deliver the ' +
      'event with a new timestamp and signature.',
  }),
  ...kinds(403, 'fix_request', {
    secret_key_required:
      "This route requires a secret key of an app's server. Ephemeral keys, access tokens and sessions " +
      'are not accepted.',
    wider_than_key:
      'An ephemeral key cannot have more rights than the key that issues it or the person who receives ' +
      'it. "errors" lists the rights that exceed them. No key was issued.',
  }),
  ...kinds(403, 'ask', {
    scope_missing:
      'This API key does not have the scope that the operation requires. Ask the operator for it.',
    operation_not_allowed: 'Your client may not use this operation. Ask the operator to allow it.',
    cap_exceeded: 'This request exceeds a limit of your client. Nothing was sent.',
  }),
  ...kinds(403, 'fix_request', {
    too_many_items: 'This request has more items than your client may send in one call. Nothing was sent.',
  }),
  ...kinds(403, 'ask', {
    country_not_allowed: 'This request contains a country that your client may not pay to. Nothing was sent.',
    recipient_not_allowed:
      'This request contains a recipient that your client may not pay. Nothing was sent. "errors" lists ' +
      'the items.',
    wallet_not_allowed:
      'Your client cannot transfer from this wallet. Nothing was sent. "errors" lists the field.',
    screening_denied: 'The screening of recipients denied this request. Nothing was sent.',
    address_not_allowed: 'Your client may not call from this IP address. Ask the operator to allow it.',
    origin_not_allowed: 'Pages of this origin may not call the proxy. Ask the operator to allow the origin.',
  }),
  ...kinds(403, 'fix_request', {
    key_in_browser:
      'Secret keys must not be used in a page, because every visitor can read them. Use an ephemeral key ' +
      'from your server, an access token or a page session. Revoke this key if the page is public.',
    csrf:
      'Cookie sessions must send the header X-CSRF-Token: pages with every request, and the console with ' +
      'every change, from its own pages. GET /v1/page-sessions/{client} and GET /v1/session return the ' +
      'token.',
    no_session: 'Sign in with a key in the header X-API-Key. A session cannot start another session.',
  }),
  ...kinds(403, 'ask', {
    own_approval:
      'You cannot approve your own request. Approval requires another client, another key, and another ' +
      'person.',
    personal_key_required:
      'A second person must approve this, so it requires a key that belongs to a person. Nothing was ' +
      'changed. Ask the operator for such a key.',
  }),
  ...kinds(404, 'ask', {
    claim_not_found:
      'This claim is not valid. Its key was claimed or revoked, it has expired, or it belongs to another ' +
      'person. Nothing was changed. Ask an administrator to request a new key.',
  }),
  ...kinds(403, 'ask', {
    approval_rejected: 'An approver rejected this request. Nothing was sent.',
  }),
  ...kinds(403, 'new_key', {
    approval_expired:
      'This request was not approved in time. Nothing was sent. To try again, send it with a new ' +
      'Idempotency-Key.',
  }),
  ...TRANSPORT,
  ...NOT_FOUND,
  ...BUSY,
  ...OUTAGES,
  ...SIGN_IN_PROBLEMS,
  ...repeatable(409, 'wait', 1, {
    not_sealed: 'This record is new and not sealed yet. Try again in a moment.',
  }),
  ...repeatable(409, 'retry_same_key', 1, {
    request_in_progress:
      'The first request with this Idempotency-Key is still in progress. Send this request again in a ' +
      'moment, with the same key.',
  }),
  ...repeatable(409, 'wait', 10, {
    run_in_progress: 'Another run of this period is in progress. Wait until it ends.',
    run_not_ended: 'This run is still in progress. GET /v1/reconciliation/runs/{id} shows its progress.',
  }),
  ...kinds(409, 'ask', {
    suspected_duplicate:
      'The same request is in progress, in doubt, pending approval, or was carried out a short time ' +
      'ago. Nothing was sent. GET /v1/calls/{id} shows the state of the call in "first_call_id". To pay ' +
      'in addition to that call, send the request again with the header Allow-Duplicate-Of and that ID.',
  }),
  ...kinds(409, 'fix_request', {
    finding_changed:
      'Some findings have changed since you read them, or do not allow this decision. Nothing was ' +
      'changed. Read the findings that "errors" lists, and decide again.',
  }),
  ...kinds(409, 'ask', {
    demo_key_missing:
      'The demo client "app" has no working key. Delete demo-keys.json in DATA_DIR and restart the ' +
      'proxy to issue new keys.',
  }),
  ...kinds(409, 'fix_request', {
    incompatible_scopes:
      'One person must not hold both scopes. Nothing was changed. Give the scopes to clients of different ' +
      'persons.',
    change_superseded:
      'The object of the change, or the rights of the requester have changed since the request. Nothing ' +
      'was changed. Request the change again.',
    change_decided: 'This change was already decided or has expired. Nothing was changed. Request it again.',
    provider_taken:
      'Another client has this token_issuer with this token_client_id, or this page_issuer with this ' +
      'page_client_id. Nothing was changed. Register a separate app at the provider for each client.',
    public_client:
      "A public client has no secret keys. Send access tokens of its people's provider, or issue the key " +
      'to a client of the kind server.',
    client_exists: 'A client with this name already exists. Choose another name.',
    already_decided:
      'This request was already decided or has expired. Nothing was changed. GET /v1/approvals/{id} shows ' +
      'its status.',
    not_in_doubt:
      'Only payouts in doubt can be settled by hand, and only after the deadline of their answer. Nothing ' +
      'was changed. To correct other payouts, send `supersedes`.',
    attribution_contradicted:
      'The transaction contradicts the payout, or belongs to another one. Nothing was changed. "errors" ' +
      'lists every reason.',
    resolution_superseded:
      'A newer settlement is in effect, so nothing was changed. Read the call again before you correct it.',
  }),
  ...kinds(409, 'ask', {
    recovery_required:
      'The proxy set this stop because its database was restored to an earlier state. Nothing was ' +
      'changed. Run database recover first.',
    content_lost: 'This call was restored without its content, so it cannot be sent. Reject it.',
    content_changed:
      'The stored content of this call does not match its record. Nothing was sent. Ask the operator to ' +
      'investigate.',
  }),
  ...kinds(422, 'ask', {
    idempotency_key_reused:
      'The call in "first_call_id" used this Idempotency-Key for a different request. GET /v1/calls/{id} ' +
      'shows that call, which may be the same payout with other details. Use a new key only for a payout ' +
      'in addition to it.',
  }),
  ...kinds(422, 'fix_request', {
    listing_missing:
      "No complete listing of the upstream's transactions of this period was read before the given time.",
  }),
  ...kinds(500, 'ask', {
    internal_error: 'The proxy failed. Nothing was sent. Give the call_id to the operator.',
  }),
  ...kinds(502, 'wait', {
    upstream_auth:
      'The payout service refused the credentials of the proxy. It is not proven yet that nothing was ' +
      'carried out. GET /v1/calls/{call_id} shows the outcome after Retry-After. If nothing was carried ' +
      'out, you may use the same Idempotency-Key again. Ask the operator to correct the credentials.',
  }),
  ...kinds(409, 'new_key', {
    answer_erased:
      'The payout service rejected this request, and its answer is no longer stored. To try again, send ' +
      'the request with a new Idempotency-Key.',
  }),
  ...kinds(502, 'wait', {
    outcome_unknown:
      'The outcome is unknown: the payout service may have carried this out. Do not send it again. GET ' +
      '/v1/calls/{call_id} shows its outcome once it is known.',
  }),
};

export type ProblemCode = keyof typeof PROBLEMS;

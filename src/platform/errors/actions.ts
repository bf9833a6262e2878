import { DATABASE_CODES } from './outages';
import { ProblemCode, PROBLEMS } from './problems';

/**
 * What a program does after an error. Every error names exactly one action, so that no client needs a table of codes.
 */
export const ACTION_MEANINGS = {
  retry_same_key:
    'Nothing was done, or the first answer is replayed. Send the same request again after `Retry-After`, with the same `Idempotency-Key` if it had one.',
  new_key: 'Nothing was paid. To try again, send the request with a new `Idempotency-Key`.',
  fix_request: 'The request is wrong and would be rejected again. Change it.',
  wait: 'The call is in progress, held, or in doubt. Do not send it again. Read `GET /v1/calls/{id}`, or the route that the text names, later.',
  ask: 'A person must decide or change something: an operator, an approver, or the sender.',
} as const;

export type Action = keyof typeof ACTION_MEANINGS;

export const ACTION_NAMES = Object.keys(ACTION_MEANINGS) as Action[];

/** The action of each code. The `action` of a Problem overrides it for one case. */
export const ACTIONS: Readonly<Record<ProblemCode, Action>> = {
  invalid_request: 'fix_request',
  not_served: 'fix_request',
  amount_required: 'fix_request',
  foreign_number: 'fix_request',
  idempotency_key_required: 'fix_request',
  invalid_idempotency_key: 'fix_request',
  invalid_allow_duplicate_of: 'fix_request',
  invalid_actor: 'fix_request',
  person_required: 'fix_request',
  invalid_people: 'fix_request',
  no_longer_allowed: 'ask',
  key_revoked: 'ask',
  missing_key: 'fix_request',
  invalid_key: 'ask',
  ephemeral_key_ended: 'fix_request',
  several_credentials: 'fix_request',
  invalid_token: 'ask',
  token_expired: 'fix_request',
  use_dpop: 'fix_request',
  invalid_dpop_proof: 'fix_request',
  provider_unavailable: 'retry_same_key',
  session_ended: 'ask',
  invalid_signature: 'ask',
  stale_event: 'fix_request',
  secret_key_required: 'fix_request',
  wider_than_key: 'fix_request',
  scope_missing: 'ask',
  operation_not_allowed: 'ask',
  cap_exceeded: 'ask',
  too_many_items: 'fix_request',
  country_not_allowed: 'ask',
  recipient_not_allowed: 'ask',
  screening_denied: 'ask',
  wallet_not_allowed: 'ask',
  screening_unavailable: 'retry_same_key',
  address_not_allowed: 'ask',
  origin_not_allowed: 'ask',
  key_in_browser: 'fix_request',
  csrf: 'fix_request',
  no_session: 'fix_request',
  step_up_required: 'ask',
  key_sign_in_off: 'ask',
  sign_in_exists: 'fix_request',
  no_provider: 'ask',
  own_approval: 'ask',
  personal_key_required: 'ask',
  claim_not_found: 'ask',
  approval_rejected: 'ask',
  approval_expired: 'new_key',
  misdirected_request: 'fix_request',
  method_not_allowed: 'fix_request',
  unsupported_encoding: 'fix_request',
  expectation_not_met: 'fix_request',
  headers_too_large: 'fix_request',
  request_timeout: 'retry_same_key',
  client_not_found: 'fix_request',
  person_not_found: 'fix_request',
  key_not_found: 'fix_request',
  ephemeral_key_not_found: 'fix_request',
  change_not_found: 'fix_request',
  approval_not_found: 'fix_request',
  statement_not_found: 'fix_request',
  stop_not_found: 'fix_request',
  fault_not_found: 'fix_request',
  not_found: 'fix_request',
  call_not_found: 'fix_request',
  object_not_found: 'fix_request',
  payout_not_found: 'fix_request',
  finding_not_found: 'fix_request',
  run_not_found: 'fix_request',
  record_not_found: 'fix_request',
  not_sealed: 'wait',
  request_in_progress: 'retry_same_key',
  run_in_progress: 'wait',
  run_not_ended: 'wait',
  suspected_duplicate: 'ask',
  finding_changed: 'fix_request',
  resolution_superseded: 'fix_request',
  demo_key_missing: 'ask',
  incompatible_scopes: 'fix_request',
  change_superseded: 'fix_request',
  change_decided: 'fix_request',
  provider_taken: 'fix_request',
  public_client: 'fix_request',
  client_exists: 'fix_request',
  already_decided: 'fix_request',
  not_in_doubt: 'fix_request',
  recovery_required: 'ask',
  content_lost: 'ask',
  content_changed: 'ask',
  idempotency_key_reused: 'ask',
  listing_missing: 'fix_request',
  rate_limited: 'retry_same_key',
  too_many_attempts: 'retry_same_key',
  too_many_at_once: 'retry_same_key',
  too_many_faults: 'retry_same_key',
  readers_busy: 'retry_same_key',
  too_many_runs: 'retry_same_key',
  no_worker: 'retry_same_key',
  not_ready: 'retry_same_key',
  internal_error: 'ask',
  database_unavailable: 'retry_same_key',
  storage_full: 'retry_same_key',
  storage_failing: 'retry_same_key',
  database_read_only: 'retry_same_key',
  database_busy: 'retry_same_key',
  upstream_auth: 'ask',
  upstream_busy: 'retry_same_key',
  overloaded: 'retry_same_key',
  stopped: 'ask',
  upstream_unreachable: 'retry_same_key',
  account_not_configured: 'retry_same_key',
  too_late: 'retry_same_key',
  instance_fenced: 'retry_same_key',
  sandbox_unreachable: 'ask',
  outcome_unknown: 'wait',
  answer_erased: 'new_key',
};

interface ReadWords {
  text: string;
  action?: Action;
}

/** Returns what happened, in the first sentence of the text of a code. */
export function happenedOf(code: ProblemCode): string {
  return /^.*?\.(?= |$)/.exec(PROBLEMS[code].text)?.[0] ?? '';
}

/** The errors of a read that may be sent again after a while. */
const TRY_AGAIN: ProblemCode[] = [...DATABASE_CODES, 'upstream_busy', 'overloaded', 'upstream_unreachable'];

/**
 * Texts for reads, for codes whose usual text mentions sending or keys. A read changes nothing and has no key. All
 * other texts apply to reads, too.
 */
export const FOR_READS: Readonly<Partial<Record<ProblemCode, ReadWords>>> = {
  internal_error: { text: 'The proxy failed to answer this request. Give the call_id to the operator.' },
  provider_unavailable: {
    text: 'The access token cannot be verified, because the identity provider does not answer. Try again later.',
  },
  token_expired: {
    text: 'This access token has expired. Get a new one from the identity provider and try again.',
  },
  ...Object.fromEntries(TRY_AGAIN.map((code) => [code, { text: `${happenedOf(code)} Try again after Retry-After.` }])),
  upstream_auth: { text: `${happenedOf('upstream_auth')} The operator has to correct them.` },
  stopped: { text: happenedOf('stopped') },
  outcome_unknown: {
    text: 'The payout service gave no usable answer. A read changes nothing, so it is safe to try again.',
    action: 'retry_same_key',
  },
};

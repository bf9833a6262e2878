import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { AnyEnvelope, ErrorEnvelope, ProblemDetails, UpstreamError } from './envelope.dto';
import { DATABASE_CODES } from './outages';
import { ProblemCode, PROBLEMS } from './problems';

const WITH_ANY_KEY: ProblemCode[] = [
  'invalid_actor',
  'missing_key',
  'invalid_key',
  'ephemeral_key_ended',
  'several_credentials',
  'invalid_token',
  'token_expired',
  'use_dpop',
  'invalid_dpop_proof',
  'session_ended',
  'csrf',
  'secret_key_required',
  'scope_missing',
  'address_not_allowed',
  'origin_not_allowed',
  'key_in_browser',
  'rate_limited',
  'too_many_attempts',
  'too_many_at_once',
  'internal_error',
  'provider_unavailable',
  ...DATABASE_CODES,
];

const OF_ANY_OPERATION: ProblemCode[] = [
  'invalid_request',
  'not_served',
  'too_many_faults',
  ...WITH_ANY_KEY,
  'operation_not_allowed',
  'upstream_auth',
  'upstream_busy',
  'overloaded',
  'upstream_unreachable',
  'account_not_configured',
  'outcome_unknown',
];

/** The errors of payments and writes. */
const OF_A_PAYMENT: ProblemCode[] = [
  'amount_required',
  'idempotency_key_required',
  'invalid_idempotency_key',
  'invalid_allow_duplicate_of',
  'cap_exceeded',
  'person_required',
  'too_many_items',
  'country_not_allowed',
  'foreign_number',
  'recipient_not_allowed',
  'screening_denied',
  'wallet_not_allowed',
  'screening_unavailable',
  'approval_rejected',
  'approval_expired',
  'request_in_progress',
  'suspected_duplicate',
  'idempotency_key_reused',
  'stopped',
  'too_late',
  'instance_fenced',
];

const UPSTREAM_ERROR = { $ref: getSchemaPath(UpstreamError) };
const OURS = { $ref: getSchemaPath(ErrorEnvelope) };
const PROBLEM_DETAILS = { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDetails) } } };

/** Statuses that the proxy uses, and that the upstream may answer with its own bytes. */
const ALSO_UPSTREAM = new Set([400, 500]);
const IN_DOUBT =
  "Or the upstream's own error, byte for byte. It does not prove that nothing was done, and the call " +
  'may be in doubt. Before you send the request with a new Idempotency-Key, read `GET /v1/calls/{id}` ' +
  'for the outcome. `X-Call-Id` has the ID.';
const UPSTREAMS_OWN: Partial<Record<string, string[]>> = { 'pay 500': [IN_DOUBT], 'write 500': [IN_DOUBT] };
const EITHER = { anyOf: [OURS, UPSTREAM_ERROR] };

/** The header of errors after which a request may be sent again. */
export const RETRY_AFTER = {
  description: 'Seconds to wait before you send the request again. Present only if that is safe.',
  schema: { type: 'integer', minimum: 0 } as const,
};

/** Documents the errors of a `/v1` route: its own, and those of every route with a key. */
export const ApiKeyProblems = (...own: ProblemCode[]) =>
  ApiProblems(...own, 'invalid_people', ...WITH_ANY_KEY);

/** Documents the errors of a route outside the interface. */
export const ApiProblems = (...codes: ProblemCode[]) =>
  applyDecorators(
    ApiExtraModels(ProblemDetails),
    ...byStatus(codes).map((response) => ApiResponse({ ...response, content: PROBLEM_DETAILS })),
  );

/** Returns the responses of `ApiKeyProblems` by status, for a route that is described without decorators. */
export function problemResponses(...own: ProblemCode[]): Record<string, object> {
  const responses = byStatus([...own, 'invalid_people', ...WITH_ANY_KEY]);
  return Object.fromEntries(
    responses.map(({ status, ...response }) => [String(status), { ...response, content: PROBLEM_DETAILS }]),
  );
}

/** Documents the errors of an operation of the interface: the proxy's own, and the upstream's. */
export const ApiEnvelopeProblems = (effect: 'pay' | 'write' | 'read', ...own: ProblemCode[]) =>
  applyDecorators(
    ApiExtraModels(AnyEnvelope, ErrorEnvelope, UpstreamError),
    ...byStatus([...OF_ANY_OPERATION, ...own, ...(effect === 'read' ? [] : OF_A_PAYMENT)]).map((response) =>
      ApiResponse({
        ...response,
        description: [response.description, ...(UPSTREAMS_OWN[`${effect} ${response.status}`] ?? [])].join(
          '\n\n',
        ),
        content: { 'application/json': { schema: ALSO_UPSTREAM.has(response.status) ? EITHER : OURS } },
      }),
    ),
    ApiResponse({
      status: 504,
      description: `\`outcome_unknown\`, after a timeout: ${PROBLEMS.outcome_unknown.text}`,
      content: { 'application/json': { schema: OURS } },
    }),
    ApiResponse({
      status: '4XX',
      description:
        "The upstream's own rejection, byte for byte. An answer that is not JSON is sent as plain text.",
      content: {
        'application/json': { schema: UPSTREAM_ERROR },
        'text/plain': { schema: { type: 'string' } },
      },
    }),
  );

/** Groups codes by status. */
function byStatus(codes: ProblemCode[]) {
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))];
  return statuses.map((status) => {
    const here = codes.filter((code) => PROBLEMS[code].status === status);
    return {
      status,
      description: describe(here),
      ...(here.some((code) => 'retryAfter' in PROBLEMS[code]) && {
        headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
      }),
    };
  });
}

/** Describes the errors of a route. Names the common ones without their texts, unless it has no others. */
function describe(codes: ProblemCode[]): string {
  const own = ownOf(codes);
  const common = codes.filter((code) => !own.includes(code));
  const texts = (own.length > 0 ? own : common).map((code) => `\`${code}\`: ${PROBLEMS[code].text}`);
  const names = own.length > 0 && common.length > 0 ? [`As on every route: \`${common.join('`, `')}\`.`] : [];
  return [...texts, ...names].join('\n\n');
}

const ownOf = (codes: ProblemCode[]) =>
  codes.filter((code) => code !== 'invalid_people' && !WITH_ANY_KEY.includes(code));

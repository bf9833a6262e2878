import { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from '../access/auth/receive';
import { RETRY_AFTER } from '../platform/errors/api-problems';

/** Headers of every response (src/access/auth/receive.ts), and of those to requests with a key (src/access/auth/rate-limit.ts). */
const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'The ID that the request came with, or a generated one.',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  'X-Call-Id': {
    description: 'The ID of the record. `GET /v1/calls/{id}` returns it.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'Server-Timing': {
    description: 'Milliseconds spent in `journal` (recording), in `upstream`, and in `total`.',
    required: true,
    schema: { type: 'string', example: 'journal;dur=3.10, upstream;dur=49.78, total;dur=54.02' },
  },
  'RateLimit-Policy': {
    description:
      'The number of requests that your client may make, and the window in seconds. Only on responses to requests with a key, and only with such a limit.',
    schema: { type: 'string', example: '"requests";q=600;w=60' },
  },
  RateLimit: {
    description: 'The number of requests left, and the seconds until the window ends. Only beside `RateLimit-Policy`.',
    schema: { type: 'string', example: '"requests";r=599;t=60' },
  },
};

/** Headers that any request may have. */
const REQUEST_HEADERS = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Your own ID of the request. It is recorded and returned. A value of another form, or one that looks like a phone number, is replaced.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  traceparent: {
    name: 'traceparent',
    in: 'header',
    description: 'W3C trace context. It is recorded and sent to the upstream.',
    schema: { type: 'string', example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  },
  'X-Actor': {
    name: 'X-Actor',
    in: 'header',
    description:
      'The ID of the person on whose behalf you send the request. It is recorded, and the limits of the person apply. A value of another form, or one that looks like a phone number, is rejected. It is ignored with a personal key. It proves nothing: decisions about held calls and findings, settlements, runs and statements are attributed to the key alone.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
} as const;

/** Headers that any request to `/v1` may have. */
const OWN_PARAMETERS = {
  'X-People': {
    name: 'X-People',
    in: 'header',
    description:
      'Masks people in the response, even for a key with `audit:pii` and in its own calls. The access log then records that nobody was revealed. Any other value is rejected.',
    schema: { type: 'string', enum: ['masked'] as string[] },
  },
} as const;

/** Headers that payments and writes may have. */
const PAYMENT_PARAMETERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Send a new key (for example, a UUID) with each payout, and the same key when you retry it. The payout is then carried out once. Printable ASCII without spaces, bare or in double quotes.',
    schema: { type: 'string', minLength: 1, maxLength: 514 }, // 255 characters, quoted and escaped
  },
  'Allow-Duplicate-Of': {
    name: 'Allow-Duplicate-Of',
    in: 'header',
    description:
      'Sends a request that was rejected as a `suspected_duplicate`. Set it to the `first_call_id` of that error. It is recorded as `duplicate_of`. Limits, stops, approvals, and the `Idempotency-Key` still apply. If another call with the same content was sent meanwhile, name that call instead.',
    schema: { type: 'string', format: 'uuid' },
  },
} as const;

/** Describes in Markdown the headers that the operations do not list. */
export const HEADERS_CHAPTER = `## Headers

Any request may have these headers:

${listOf(REQUEST_HEADERS)}

Every response has these headers:

${listOf(RESPONSE_HEADERS)}`;

function listOf(headers: Record<string, { description: string }>): string {
  return Object.entries(headers)
    .map(([name, { description }]) => `- \`${name}\`: ${description}`)
    .join('\n');
}

/**
 * Adds the headers to the document. Operations list only those that are particular to them: the others would be a tenth
 * of the document. Programs find the others in `x-every-operation`.
 */
export function describeHeaders(document: OpenAPIObject): void {
  document.components = {
    ...document.components,
    parameters: { ...OWN_PARAMETERS, ...PAYMENT_PARAMETERS },
    headers: { 'Retry-After': RETRY_AFTER },
  };
  Object.assign(document, {
    'x-every-operation': { parameters: Object.values(REQUEST_HEADERS), headers: RESPONSE_HEADERS },
  });
}

/** Returns the headers that the requests to an address may have. */
export function parametersAt(address: string): Reference[] {
  return address.startsWith('/v1/') ? referencesTo(OWN_PARAMETERS) : [];
}

/** Returns the headers that payments and writes may have. */
export function paymentParameters(): Reference[] {
  return referencesTo(PAYMENT_PARAMETERS);
}

interface Reference {
  $ref: string;
}

function referencesTo(parameters: object): Reference[] {
  return Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

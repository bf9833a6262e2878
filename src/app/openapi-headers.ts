import { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from '../access/auth/receive';
import { LONGEST_WAIT_SECONDS, PATIENCE_SECONDS } from '../gateway/admission-control/patience';
import { RETRY_AFTER } from '../platform/errors/api-problems';

/** The headers of every response (receive.ts and rate-limit.ts in src/access/auth). */
export const HEADERS_CHAPTER = `## Headers

Every response has these headers:

- \`X-Request-Id\`: The ID of the request, or a generated one.
- \`X-Call-Id\`: The ID of the record. \`GET /v1/calls/{id}\` returns it.
- \`Server-Timing\`: Milliseconds spent in \`queue\` (waiting), in \`journal\` (recording), in
  \`upstream\`, and in \`total\`.

A response to a request with a key also has these, if your client has a rate limit:

- \`RateLimit-Policy\`: The number of requests that your client may make, and the window in seconds.
- \`RateLimit\`: The number of requests left, and the seconds until the window ends.`;

/** The headers that requests may have, by their names in the document. */
const REQUEST_HEADERS = {
  'X-Request-Id': {
    description:
      'Your own ID of the request. It is recorded and returned. A value of another form, or one that ' +
      'looks like a phone number, is replaced.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  traceparent: {
    description: 'W3C trace context. It is recorded and sent to the upstream.',
    schema: { type: 'string', example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  },
  'X-Actor': {
    description:
      'The ID of the person on whose behalf you send the request. It is recorded, and the limits of the ' +
      'person apply. A value of another form, or one that looks like a phone number, is rejected. It is ' +
      'ignored with a personal key. It proves nothing: decisions about held calls and findings, ' +
      'settlements, runs and statements are attributed to the key alone.',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  'X-People': {
    description:
      'Masks people in the response, even for a key with `audit:pii` and in its own calls. The access ' +
      'log then records no revealed person. Any other value is rejected.',
    schema: { type: 'string', enum: ['masked'] },
  },
  'Idempotency-Key': {
    description:
      'Send a new key (for example, a UUID) with each payout, and the same key when you retry it. The ' +
      'payout is then carried out once. Printable ASCII without spaces, bare or in double quotes.',
    schema: { type: 'string', minLength: 1, maxLength: 514 }, // 255 characters, quoted and escaped
  },
  'Allow-Duplicate-Of': {
    description:
      'Sends a request that was rejected as a `suspected_duplicate`. Set it to the `first_call_id` of that ' +
      'error. It is recorded as `duplicate_of`. Limits, stops, approvals, and the `Idempotency-Key` still ' +
      'apply. If another call with the same content was sent meanwhile, name that call instead.',
    schema: { type: 'string', format: 'uuid' },
  },
  Prefer: {
    description:
      '`wait=N` (RFC 7240): waits up to N seconds for its turn while the proxy is busy, at most ' +
      `${LONGEST_WAIT_SECONDS}. The default is ${PATIENCE_SECONDS.pay} seconds for payments and writes, ` +
      `and ${PATIENCE_SECONDS.read} for reads. The upstream takes its own time in addition. A request ` +
      'whose turn would come later gets 503 `overloaded` at once. `respond-async`: queues a payment or a ' +
      'write. It is admitted and recorded, answered with 202 and `Preference-Applied`, and sent as soon as ' +
      'the upstream has room for it.',
    schema: { type: 'string', example: 'wait=5' },
  },
};

type HeaderName = keyof typeof REQUEST_HEADERS;

/** Adds the headers to the components of a document. */
export function addHeaders(document: OpenAPIObject): void {
  const parameters = Object.entries(REQUEST_HEADERS).map(
    ([name, header]) => [name, { name, in: 'header', ...header }] as const,
  );
  document.components = {
    ...document.components,
    parameters: Object.fromEntries(parameters),
    headers: { 'Retry-After': RETRY_AFTER },
  };
}

/** Returns the headers that the requests to an address may have. */
export function headersAt(address: string): Reference[] {
  const names: HeaderName[] = ['X-Request-Id', 'traceparent', 'X-Actor'];
  return referencesTo([...names, address.startsWith('/v1/') ? 'X-People' : 'Prefer']);
}

/** Returns the headers that payments and writes may have. */
export const paymentHeaders = () => referencesTo(['Idempotency-Key', 'Allow-Duplicate-Of']);

interface Reference {
  $ref: string;
}

function referencesTo(names: HeaderName[]): Reference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

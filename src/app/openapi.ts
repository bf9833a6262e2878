import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, getSchemaPath, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { REQUEST_ID } from '../access/auth/receive';
import { RunningConfig } from '../platform/config/config';
import { problemResponses, RETRY_AFTER } from '../platform/errors/api-problems';
import { INTERFACE_PREFIX, OPERATIONS, PREVIEW_PREFIX } from '../operations/catalogue';
import { Effect, OperationRow } from '../operations/row';
import { Preview } from '../gateway/preview/preview.dto';
import { MAX_EXTRA_CHARACTERS } from '../http/validation/extra-fields';
import { isForwarded } from '../http/validation/nothing.dto';
import { shareEqualParts, shareSecurity } from './openapi-components';
import { shareBases } from './openapi-bases';
import { shareEnums } from './openapi-enums';
import { shortenNullable } from './openapi-nullable';

const DESCRIPTION = `The upstream's interface under \`/api/v0.1\`, made safe. Requests and answers are the same, with a key
of this proxy, and every call is recorded. \`/v1\` reads the records, previews payouts, sets limits, decides about held calls,
stops operations, and settles calls in doubt.

Send a new \`Idempotency-Key\` with each payment or write, and the same key when you retry it. The request is then carried
out once.

Every answer has \`X-Request-Id\` (yours, or a generated one), \`X-Call-Id\` (the ID of the record) and \`Server-Timing\`.
Errors say what to do: in the interface's envelope below \`/api/v0.1\`, elsewhere as RFC 9457 problem details.`;

const PREVIEW =
  'Shows what would happen if you sent the request of an operation now. The preview of an invalid body lists all its errors.';

/** Headers of every response (src/access/auth/receive.ts). */
const HEADERS = {
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
};

/** Headers of responses to requests with a key (src/access/auth/rate-limit.ts). */
const RATE_HEADERS = {
  'RateLimit-Policy': {
    description:
      'The number of requests that your client may make, and the window in seconds. Absent without such a limit.',
    schema: { type: 'string', example: '"requests";q=600;w=60' },
  },
  RateLimit: {
    description: 'The number of requests left, and the seconds until the window ends.',
    schema: { type: 'string', example: '"requests";r=599;t=60' },
  },
};

/** Headers that any request may have. */
const PARAMETERS = {
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
      'The ID of the person on whose behalf you send the request. It is recorded. A value of another form, or one that looks like a phone number, is rejected. It is ignored with a personal key. It proves nothing: decisions about held calls and findings, settlements, runs and statements are attributed to the key alone.',
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

/** A field of EXTRA_FIELDS_ALLOWED. */
const EXTRA_FIELD = {
  anyOf: [{ type: 'string', maxLength: MAX_EXTRA_CHARACTERS }, { type: 'number' }, { type: 'boolean' }],
  description: 'A field that the interface does not document. It is forwarded as it is.',
};

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  description?: string;
  anyOf?: object[];
}

type Limits = Pick<RunningConfig, 'maxItems' | 'extraFieldsAllowed'>;
interface Described {
  /** Present if the route requires a key. */
  security?: object[];
  responses: object;
  /** Present for operations of the interface. */
  'x-source'?: string;
}

type Responses = Record<string, { headers?: object }>;

/** Returns the OpenAPI 3.1 document of the application with its configuration. */
export function openApiDocument(app: NestFastifyApplication, limits: Limits): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('payout-proxy')
    .setVersion('0.1')
    .setDescription(DESCRIPTION)
    .addTag('Preview', PREVIEW)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'key')
    .build();
  const described = SwaggerModule.createDocument(app, config, {
    autoTagControllers: false,
    operationIdFactory: (_controller, method) => method,
  });
  const document = JSON.parse(JSON.stringify(described)) as OpenAPIObject; // a copy, because the original shares objects with the decorators
  document.components = {
    ...document.components,
    parameters: { ...PARAMETERS, ...OWN_PARAMETERS, ...PAYMENT_PARAMETERS },
    headers: { ...HEADERS, ...RATE_HEADERS, 'Retry-After': RETRY_AFTER },
  };
  for (const [address, path] of Object.entries(document.paths)) {
    if (path.post && address.startsWith(PREVIEW_PREFIX)) describePreview(path.post, address);
    const parameters = { ...PARAMETERS, ...(address.startsWith('/v1/') && OWN_PARAMETERS) };
    path.parameters = referencesTo(parameters);
    const operations = [path.get, path.post, path.patch, path.delete].flatMap((operation) => operation ?? []);
    for (const operation of operations) {
      const { content = {} } = (operation.requestBody ?? {}) as { content?: Record<string, { schema?: Schema }> };
      for (const { schema } of Object.values(content)) describeBody(schema, document, limits);
      describeHeaders(operation);
    }
    const effect = effectOf(address);
    if (path.post && (effect === 'pay' || effect === 'write')) {
      path.post.parameters = [...(path.post.parameters ?? []), ...referencesTo(PAYMENT_PARAMETERS)];
    }
  }
  shareEnums(document);
  shortenNullable(document);
  shareBases(document);
  shareSecurity(document);
  shareEqualParts(document);
  return document;
}

function referencesTo(parameters: object): { $ref: string }[] {
  return Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/**
 * Adds what the decorators cannot express: unknown fields are rejected, and the configuration sets the length of lists
 * and allows more fields.
 */
function describeBody(schema: Schema | undefined, document: OpenAPIObject, limits: Limits): void {
  const name = schema?.$ref?.split('/').at(-1) ?? '';
  const body = document.components?.schemas?.[name] as Schema | undefined;
  if (!body) return;
  body.additionalProperties = false;
  for (const property of Object.values(body.properties ?? {})) {
    if (property.items?.$ref !== undefined && isForwarded(name)) property.maxItems = limits.maxItems;
    describeBody(property.items, document, limits);
  }
  if (!isForwarded(name)) return;
  for (const field of limits.extraFieldsAllowed) body.properties = { ...body.properties, [field]: EXTRA_FIELD };
}

/** Returns the effect of the operation at an address, or of its preview. Undefined for other routes. */
function effectOf(address: string): Effect | undefined {
  const rows: Record<string, OperationRow | undefined> = OPERATIONS;
  const prefix = address.startsWith(PREVIEW_PREFIX) ? PREVIEW_PREFIX : INTERFACE_PREFIX;
  return rows[`POST ${address.slice(prefix.length)}`]?.effect;
}

/** Describes a preview like its operation. */
function describePreview(operation: Described, address: string): void {
  const path = address.slice(PREVIEW_PREFIX.length);
  Object.assign(operation, {
    tags: ['Preview'],
    summary: `Preview POST ${path}`,
    description: `Scope \`${effectOf(address)}\`. Nothing is paid, sent, reserved, or recorded.`,
    responses: {
      '200': {
        description: 'The preview.',
        content: { 'application/json': { schema: { $ref: getSchemaPath(Preview) } } },
      },
      ...problemResponses('invalid_request', 'operation_not_allowed', 'readers_busy'),
    },
  });
  delete operation['x-source'];
}

/** Adds the headers of every answer. A response may have more. */
function describeHeaders({ security, responses }: Described): void {
  const names = [...Object.keys(HEADERS), ...(security ? Object.keys(RATE_HEADERS) : [])];
  const shared = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  for (const response of Object.values(responses as Responses)) response.headers = { ...shared, ...response.headers };
}

/** Serves `/docs` for people and `/openapi.json` for programs. */
export function serveDocs(app: NestFastifyApplication, settings: RunningConfig): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, settings), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'payout-proxy',
  });
}

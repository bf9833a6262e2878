import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, getSchemaPath, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Preview } from '../gateway/preview/preview.dto';
import { KIND_NAMES } from '../history/log/kinds';
import { APPROVAL_STATUSES } from '../history/records/record.dto';
import { MAX_EXTRA_CHARACTERS } from '../http/validation/extra-fields';
import { isForwarded } from '../http/validation/rules/rules';
import { answerSchemas } from '../operations/catalogue/answers';
import { INTERFACE_PREFIX, OPERATIONS, PREVIEW_PREFIX } from '../operations/catalogue/catalogue';
import { Effect, OperationRow } from '../operations/catalogue/row';
import { SCOPES } from '../operations/catalogue/scopes';
import { CALL_STATES } from '../operations/lifecycle/lifecycle';
import { NEXT_STEPS, PAYOUT_STATES } from '../operations/lifecycle/settlement';
import { BUILD } from '../platform/build';
import { RunningConfig } from '../platform/config/config';
import { problemResponses } from '../platform/errors/api-problems';
import { AnyEnvelope } from '../platform/errors/envelope.dto';
import { ACTION_NAMES } from '../platform/errors/kinds';
import { FIRST_CALL_STATES } from '../platform/errors/problem';
import { PROBLEMS } from '../platform/errors/problems';
import { SEVERITIES } from '../reconciliation/findings/categories';
import { RESULTS } from '../reconciliation/runs/run-reader';
import { RUN_STATES } from '../reconciliation/runs/runs.dto';
import { Audience, documentFor } from './openapi-audiences';
import { addHeaders, headersAt, paymentHeaders } from './openapi-headers';
import { routesOf } from './routes';

/** A field of EXTRA_FIELDS_ALLOWED. */
const EXTRA_FIELD = {
  anyOf: [{ type: 'string', maxLength: MAX_EXTRA_CHARACTERS }, { type: 'number' }, { type: 'boolean' }],
  description: 'A field that the interface does not document. It is forwarded unchanged.',
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

type RequestLimits = Pick<RunningConfig, 'maxItems' | 'extraFieldsAllowed'>;

interface OperationObject {
  responses: object;
  /** Present for operations of the interface. */
  'x-source'?: string;
}

export type ApiDocuments = Record<Audience, OpenAPIObject>;

/** Returns the OpenAPI 3.1 documents of the application with its configuration. */
export function openApiDocuments(app: NestFastifyApplication, limits: RequestLimits): ApiDocuments {
  const whole = wholeDocument(app, limits);
  const routes = routesOf(app);
  return { apps: documentFor('apps', whole, routes), staff: documentFor('staff', whole, routes) };
}

/** Returns the document of all routes, in which each part has one name for all audiences. */
function wholeDocument(app: NestFastifyApplication, limits: RequestLimits): OpenAPIObject {
  const config = new DocumentBuilder().setOpenAPIVersion('3.1.0').setVersion(BUILD.version).build();
  const described = SwaggerModule.createDocument(app, config, {
    autoTagControllers: false,
    operationIdFactory: (_controller, method) => method,
  });
  // a copy, because the original shares objects with the decorators
  const document = JSON.parse(JSON.stringify(described)) as OpenAPIObject;
  Object.assign(document.components?.schemas ?? {}, answerSchemas(AnyEnvelope.name));
  addHeaders(document);
  for (const [address, path] of Object.entries(document.paths)) {
    if (path.post && address.startsWith(PREVIEW_PREFIX)) describePreview(path.post, address);
    path.parameters = headersAt(address);
    const operations = [path.get, path.post, path.patch, path.delete].flatMap((operation) => operation ?? []);
    for (const operation of operations) {
      const { content = {} } = (operation.requestBody ?? {}) as {
        content?: Record<string, { schema?: Schema }>;
      };
      for (const { schema } of Object.values(content)) describeBody(schema, document, limits);
    }
    const effect = effectOf(address);
    if (path.post && (effect === 'pay' || effect === 'write')) {
      path.post.parameters = [...(path.post.parameters ?? []), ...paymentHeaders()];
    }
  }
  nameEnums(document);
  return document;
}

/**
 * Adds what the decorators cannot express: unknown fields are rejected, and the configuration sets the length
 * of lists and allows more fields.
 */
function describeBody(schema: Schema | undefined, document: OpenAPIObject, limits: RequestLimits): void {
  const name = schema?.$ref?.split('/').at(-1) ?? '';
  const body = document.components?.schemas?.[name] as Schema | undefined;
  if (!body) return;
  body.additionalProperties = false;
  for (const property of Object.values(body.properties ?? {})) {
    if (property.items?.$ref !== undefined && isForwarded(name)) property.maxItems = limits.maxItems;
    describeBody(property.items, document, limits);
  }
  if (!isForwarded(name)) return;
  for (const field of limits.extraFieldsAllowed)
    body.properties = { ...body.properties, [field]: EXTRA_FIELD };
}

/** Returns the effect of the operation at an address, or of its preview. Undefined for other routes. */
function effectOf(address: string): Effect | undefined {
  const rows: Record<string, OperationRow | undefined> = OPERATIONS;
  const prefix = address.startsWith(PREVIEW_PREFIX) ? PREVIEW_PREFIX : INTERFACE_PREFIX;
  return rows[`POST ${address.slice(prefix.length)}`]?.effect;
}

/** Describes a preview like its operation. */
function describePreview(operation: OperationObject, address: string): void {
  const path = address.slice(PREVIEW_PREFIX.length);
  Object.assign(operation, {
    tags: ['Preview'],
    summary: `Preview POST ${path}`,
    description: 'Nothing is paid, sent, reserved, or recorded.',
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

/** The lists of words that programs name, by their names in the document. */
const ENUMS = {
  ApprovalStatus: APPROVAL_STATUSES,
  CallState: CALL_STATES,
  ErrorAction: ACTION_NAMES,
  ErrorCode: Object.keys(PROBLEMS),
  FirstCallState: FIRST_CALL_STATES,
  NextStep: [...new Set(Object.values(NEXT_STEPS))],
  OperationName: Object.keys(OPERATIONS),
  PayoutState: PAYOUT_STATES,
  RecordKind: KIND_NAMES,
  RunResult: RESULTS,
  RunState: RUN_STATES,
  Scope: SCOPES,
  Severity: SEVERITIES,
};

/** Moves each list of words into `components.schemas`, and replaces each `enum` of it with a reference. */
function nameEnums(document: OpenAPIObject): void {
  const schemas = Object.entries(ENUMS).map(
    ([name, words]) => [name, { type: 'string', enum: [...words] }] as const,
  );
  replaceEnums(document, new Map(schemas.map(([name, schema]) => [JSON.stringify(schema.enum), name])));
  Object.assign(document.components?.schemas ?? {}, Object.fromEntries(schemas));
}

function replaceEnums(value: unknown, names: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as { $ref?: string; type?: unknown; enum?: unknown };
  const name = names.get(JSON.stringify(schema.enum));
  if (name === undefined) return Object.values(value).forEach((inner) => replaceEnums(inner, names));
  schema.$ref = getSchemaPath(name);
  delete schema.type;
  delete schema.enum;
}

import { API_DOCUMENT, follow, Method, operationsIn, Schema } from './api-document';

const FORMATS: Record<string, RegExp> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
};

/** Returns the schema of a route's JSON response in the API documents. */
export function schemaOf(method: Method, path: string, status = 200): Schema {
  const schema = API_DOCUMENT.paths[path]?.[method]?.responses[status]?.content?.['application/json']?.schema;
  if (!schema) throw new Error(`the API documents lack a JSON schema for ${method} ${path} ${status}`);
  return schema;
}

/** All paths below /v1 with a pattern of their addresses. Paths without parameters come first. */
const ROUTES = Object.keys(API_DOCUMENT.paths)
  .filter((path) => path.startsWith('/v1/'))
  .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
  .map((path) => ({ path, address: new RegExp(`^${path.replace(/\{.*?\}/g, '[^/]+')}(\\?|$)`) }));

/** Expects a JSON answer of a route below /v1 to match its description. Ignores other answers. */
export function expectDescribed(
  method: string,
  address: string,
  { status, type, body }: { status: number; type: string; body: unknown },
): void {
  if (!type.endsWith('json') || typeof body !== 'object') return;
  const path = ROUTES.find((route) => route.address.test(address))?.path ?? '';
  const schema = API_DOCUMENT.paths[path]?.[method as Method]?.responses[status]?.content?.[type]?.schema;
  if (schema) expect([method, path, status, undescribed(body, schema)]).toEqual([method, path, status, []]);
}

/**
 * Returns the parts of a response that contradict or lack a schema. Stricter than JSON Schema: a field
 * without a schema is a fault.
 */
export function undescribed(value: unknown, schema: Schema, at = ''): string[] {
  if (schema.$ref) return undescribed(value, follow(schema), at);
  if (schema.allOf) return undescribed(value, allOf(schema.allOf), at);
  const choices = schema.anyOf;
  if (choices) {
    const faults = choices.map((choice) => undescribed(value, choice, at));
    return (
      faults.find((none) => none.length === 0) ??
      faults.find((some) => !some[0]?.includes(' is no ')) ??
      faults[0]!
    );
  }
  if (schema.enum)
    return schema.enum.includes(value) ? [] : [`${at} is none of the enum: ${JSON.stringify(value)}`];
  if (schema.type !== undefined && !isOf(schema.type, value))
    return [`${at} is no ${String(schema.type)}: ${typeof value}`];
  if (Array.isArray(value)) return value.flatMap((one) => undescribed(one, schema.items ?? {}, `${at}/*`));
  if (typeof value === 'object' && value !== null) return inObject(value, schema, at);
  if (typeof value !== 'string') return [];
  const pattern =
    schema.pattern === undefined ? FORMATS[schema.format ?? ''] : new RegExp(schema.pattern, 'u');
  return pattern && !pattern.test(value)
    ? [`${at} is not as ${schema.format ?? schema.pattern}: ${value}`]
    : [];
}

/** Returns a schema without references that forbids additional fields. */
export function closed(schema: Schema): Schema {
  const { additionalProperties, items, anyOf, allOf: parts, properties, ...own } = follow(schema);
  return {
    ...own,
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(parts && { allOf: parts.map(closed) }),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, closed(one)]),
          ),
        }
      : additionalProperties !== undefined && { additionalProperties }),
  };
}

/** Combines the members of several schemas. */
function allOf(parts: Schema[]): Schema {
  const all = parts
    .map((part) => (part.$ref ? follow(part) : part))
    .map((part) => (part.allOf ? allOf(part.allOf) : part));
  const properties = Object.assign({}, ...all.map((part) => part.properties ?? {})) as Record<string, Schema>;
  return { ...all[0], properties, required: all.flatMap(({ required = [] }) => required) };
}

function inObject(
  value: object,
  { properties = {}, required = [], additionalProperties }: Schema,
  at: string,
): string[] {
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}/${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    const schema = properties[name] ?? additionalProperties;
    if (schema === true) return [];
    return schema ? undescribed(one, schema, `${at}/${name}`) : [`${at}/${name} is not described`];
  });
  return [...missing, ...wrong];
}

function isOf(type: string | string[], value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => isOf(one, value));
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === type && value !== null && !Array.isArray(value);
}

export function schemaNamed(name: string): Schema {
  const schema = API_DOCUMENT.components.schemas[name];
  if (!schema) throw new Error(`the API documents lack the schema ${name}`);
  return schema;
}

/** Returns the positions in responses of /v1 that are described only as objects. */
export function undescribedObjects(): string[] {
  const reached = new Set<string>();
  const silent = new Set<string>();
  const walk = (schema: Schema, at: string): void => {
    const name = schema.$ref?.split('/').at(-1);
    if (name !== undefined) {
      if (reached.has(name)) return;
      reached.add(name);
      return walk(schemaNamed(name), name);
    }
    if (
      [schema.type].flat().includes('object') &&
      !schema.properties &&
      typeof schema.additionalProperties !== 'object'
    )
      silent.add(at);
    for (const choice of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) walk(choice, at);
    for (const [member, one] of Object.entries(schema.properties ?? {})) walk(one, `${at}/${member}`);
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${at}/*`);
    if (schema.items) walk(schema.items, `${at}/*`);
  };
  for (const { path, operation } of operationsIn()) {
    if (!path.startsWith('/v1/')) continue;
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const schema = status.startsWith('2') ? content?.['application/json']?.schema : undefined;
      if (schema) walk(schema, path);
    }
  }
  return [...silent].sort();
}

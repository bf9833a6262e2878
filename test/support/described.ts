import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Schema = Record<string, any>;

const DOCUMENT = JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8')) as Schema;

const FORMATS: Record<string, RegExp> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
};

/** The schema of the JSON with which a route of openapi.json answers. */
export function schemaOf(method: string, path: string, status = 200): Schema {
  const { content } = DOCUMENT.paths[path][method].responses[status];
  return content['application/json'].schema as Schema;
}

/**
 * What of an answer is not as described, or not described at all: a stricter reading than JSON Schema's, in which what a schema
 * does not name is a fault.
 */
export function undescribed(value: unknown, schema: Schema, at = ''): string[] {
  if (schema.$ref) return undescribed(value, DOCUMENT.components.schemas[schema.$ref.split('/').at(-1)], at);
  const choices = (schema.anyOf ?? schema.allOf) as Schema[] | undefined;
  if (choices) {
    const faults = choices.map((choice) => undescribed(value, choice, at));
    return (
      faults.find((none) => none.length === 0) ?? faults.find((some) => !some[0]?.includes(' is no ')) ?? faults[0]!
    );
  }
  if (schema.enum) return schema.enum.includes(value) ? [] : [`${at} is none of the enum: ${JSON.stringify(value)}`];
  if (schema.type !== undefined && !isOf(schema.type, value)) return [`${at} is no ${schema.type}: ${typeof value}`];
  if (Array.isArray(value)) return value.flatMap((one) => undescribed(one, schema.items ?? {}, `${at}/*`));
  if (typeof value === 'object' && value !== null) return inObject(value, schema, at);
  if (typeof value !== 'string') return [];
  const pattern = schema.pattern === undefined ? FORMATS[schema.format] : new RegExp(schema.pattern, 'u');
  return pattern && !pattern.test(value) ? [`${at} is not as ${schema.format ?? schema.pattern}: ${value}`] : [];
}

function inObject(
  value: Schema,
  { properties = {}, required = [], additionalProperties }: Schema,
  at: string,
): string[] {
  const missing = required.filter((name: string) => !(name in value)).map((name: string) => `${at}/${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, one]) => {
    const schema = properties[name] ?? additionalProperties;
    if (schema === true) return [];
    return schema ? undescribed(one, schema, `${at}/${name}`) : [`${at}/${name} is not described`];
  });
  return [...missing, ...wrong];
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === type && value !== null && !Array.isArray(value);
}

export function described(name: string): Schema {
  return DOCUMENT.components.schemas[name] as Schema;
}

/** The places in what /v1 answers with of which no more is said than that they are objects. */
export function objectsThatSayNothing(): string[] {
  const reached = new Set<string>();
  const silent = new Set<string>();
  const walk = (schema: Schema, at: string): void => {
    const name = schema.$ref?.split('/').at(-1) as string | undefined;
    if (name !== undefined) {
      if (reached.has(name)) return;
      reached.add(name);
      return walk(described(name), name);
    }
    if (schema.type === 'object' && !schema.properties && typeof schema.additionalProperties !== 'object')
      silent.add(at);
    for (const choice of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) walk(choice, at);
    for (const [member, one] of Object.entries<Schema>(schema.properties ?? {})) walk(one, `${at}/${member}`);
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${at}/*`);
    if (schema.items) walk(schema.items, `${at}/*`);
  };
  for (const [path, item] of Object.entries<Schema>(DOCUMENT.paths)) {
    if (!path.startsWith('/v1/')) continue;
    for (const { responses } of [item.get, item.post, item.patch, item.delete].filter(Boolean))
      for (const [status, { content }] of Object.entries<Schema>(responses)) {
        const schema = status.startsWith('2') ? content?.['application/json']?.schema : undefined;
        if (schema) walk(schema, path);
      }
  }
  return [...silent].sort();
}

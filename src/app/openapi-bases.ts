import { getSchemaPath, OpenAPIObject } from '@nestjs/swagger';

/** The schema of an object, as far as this file reads it. */
interface ObjectSchema {
  type?: string;
  properties?: Record<string, unknown>;
  required?: string[];
  additionalProperties?: unknown;
  allOf?: object[];
}

/** A schema with fewer members is not worth a reference. */
const FEWEST = 6;

/**
 * Describes a schema that has all members of another one as that one and its own members (`allOf`). Nest repeats the
 * members of a base class in every class that extends it.
 */
export function shareBases(document: OpenAPIObject): void {
  const schemas = Object.entries((document.components?.schemas ?? {}) as Record<string, ObjectSchema>);
  const members = new Map(schemas.filter(([, schema]) => isOpen(schema)).map(([name, one]) => [name, membersOf(one)]));
  for (const [name, schema] of schemas) {
    const own = members.get(name);
    const base = own && largestBase(own, members);
    if (base === undefined) continue;
    const extended = extending(base, schema, members.get(base) ?? new Map<string, string>());
    for (const member of Object.keys(schema)) delete schema[member as keyof ObjectSchema];
    Object.assign(schema, extended);
  }
}

/** Whether a schema allows other members. A closed one would reject those that it does not repeat. */
function isOpen({ type, properties, additionalProperties, allOf }: ObjectSchema): boolean {
  return type === 'object' && properties !== undefined && additionalProperties === undefined && allOf === undefined;
}

/** Each member with its schema and whether it is required, as text. */
function membersOf({ properties = {}, required = [] }: ObjectSchema): Map<string, string> {
  return new Map(
    Object.entries(properties).map(([name, one]) => [name, JSON.stringify([one, required.includes(name)])]),
  );
}

function largestBase(own: Map<string, string>, all: Map<string, Map<string, string>>): string | undefined {
  const bases = [...all].filter(([, { size }]) => size >= FEWEST && size < own.size);
  const fitting = bases.filter(([, base]) => [...base].every(([member, text]) => own.get(member) === text));
  return fitting.sort(([, one], [, other]) => other.size - one.size)[0]?.[0];
}

function extending(
  base: string,
  { properties = {}, required = [] }: ObjectSchema,
  shared: Map<string, string>,
): ObjectSchema {
  const own = Object.entries(properties).filter(([name]) => !shared.has(name));
  const needed = required.filter((name) => !shared.has(name));
  const rest = { type: 'object', properties: Object.fromEntries(own), ...(needed.length > 0 && { required: needed }) };
  return { allOf: [{ $ref: getSchemaPath(base) }, rest] };
}

import { getSchemaPath, OpenAPIObject } from '@nestjs/swagger';

type Members = Record<string, object>;
type Schemas = Record<string, { properties?: Members; allOf?: { properties?: Members }[] }>;

/** A member of a schema. */
interface Place {
  members: Members;
  member: string;
  /** The name of the member for `components`. */
  name: string;
}

/** Less room is not worth a reference, which readers have to follow. */
const LEAST_ROOM = 60;

/**
 * Moves each member that several schemas have in common into `components.schemas`, if that makes room. The
 * body that creates a client has most members of the one that changes it.
 */
export function shareMembers(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const groups = new Map<string, Place[]>();
  for (const place of Object.entries(schemas).flatMap(placesIn)) {
    const text = JSON.stringify([place.member, place.members[place.member]]);
    groups.set(text, [...(groups.get(text) ?? []), place]);
  }
  for (const places of groups.values()) share(places, schemas);
}

function placesIn([schema, { properties = {}, allOf = [] }]: [string, Schemas[string]]): Place[] {
  return [properties, ...allOf.map((part) => part.properties ?? {})].flatMap((members) =>
    Object.keys(members).map((member) => ({ members, member, name: `${schema}.${member}` })),
  );
}

function share(places: Place[], schemas: Schemas): void {
  const [{ members, member, name }] = places as [Place];
  const schema = members[member] as object;
  const reference = { $ref: getSchemaPath(name) };
  const [long, short] = [JSON.stringify(schema).length, JSON.stringify(reference).length];
  if ((places.length - 1) * long - places.length * short - name.length < LEAST_ROOM) return;
  schemas[name] = schema;
  for (const place of places) place.members[place.member] = reference;
}

import { OpenAPIObject } from '@nestjs/swagger';

/** A schema, as far as this file reads it. */
interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
}

/**
 * Describes a value that may be null by a list of types, as JSON Schema does. OpenAPI before 3.1 needed two alternatives.
 * Rules such as a format or a pattern apply to values of their own type only, so they stay as they are.
 */
export function shortenNullable(document: OpenAPIObject): void {
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    shorten(part);
    Object.values(part).forEach(walk);
  };
  walk(document);
}

function shorten(schema: Schema): void {
  const [one, other, ...more] = schema.anyOf ?? [];
  if (typeof one?.type !== 'string' || one.enum || other?.type !== 'null' || more.length > 0) return;
  delete schema.anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'] });
}

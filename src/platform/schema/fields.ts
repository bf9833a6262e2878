import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';

/** Schemas of fields, and their decorators. The schema comes first, then the description. */

export const TEXT = { type: 'string' } as const;
export const BOOLEAN = { type: 'boolean' } as const;
export const NUMBER = { type: 'number' } as const;
export const INTEGER = { type: 'integer' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const UUID = { type: 'string', format: 'uuid' } as const;
export const INSTANT = { type: 'string', format: 'date-time' } as const;
/** SHA-256 in hex. */
export const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
/** An amount in US dollars, exact. */
export const USD = { type: 'string', pattern: '^\\d+(\\.\\d+)?$', example: '10.5' } as const;
/** An amount that may be negative. */
export const SIGNED_USD = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', example: '1.5' } as const;

export type Model<Fields = object> = new () => Fields;

/** Refers to a schema by its name, for a class that is declared further down. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns a schema that also allows null, a separate type in OpenAPI 3.1 (JSON Schema 2020-12). */
export function orNull(schema: object) {
  const forms: object[] = 'anyOf' in schema ? (schema.anyOf as object[]) : [schema];
  return { anyOf: [...forms, { type: 'null' }] };
}

/** Describes a field that is always present. */
export const described = (schema: object, description: string) => ApiProperty({ ...schema, description });

/** Describes a field that is always present and may be null. */
export const nullable =
  (schema: object | Model, description: string) => (target: object, property: string) => {
    if (typeof schema !== 'function') return described(orNull(schema), description)(target, property);
    ApiExtraModels(schema)(target.constructor);
    described(orNull({ $ref: getSchemaPath(schema) }), description)(target, property);
  };

/** Describes a field that may be missing. */
export const optional = (schema: object, description: string) =>
  ApiPropertyOptional({ ...schema, description });

/** Returns a class with more properties, after those of another class. */
export function withFields<Own extends object, Added extends object>(
  base: Model<Own>,
  fields: (readonly [name: string, decorate: (target: object, property: string) => void])[],
): Model<Own & Added> {
  class WithFields extends (base as Model) {}
  for (const [name, decorate] of fields) {
    Reflect.defineMetadata('design:type', Object, WithFields.prototype, name);
    decorate(WithFields.prototype, name);
  }
  return WithFields as Model<Own & Added>;
}

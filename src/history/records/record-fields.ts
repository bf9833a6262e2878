import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';

/** Decorators for fields of records in the OpenAPI document. */

export const nullable = (type: 'string' | 'integer' | 'number', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
export const orNull = (model: new () => object, description: string) => (target: object, property: string) => {
  ApiExtraModels(model)(target.constructor);
  ApiProperty({ anyOf: [{ $ref: getSchemaPath(model) }, { type: 'null' }], description })(target, property);
};
export const text = (description: string, more: object = {}) => ApiProperty({ type: 'string', description, ...more });
export const USD = { pattern: '^-?\\d+(\\.\\d+)?$', example: '1.5' };
export const UUID = { format: 'uuid' };
export const INSTANT = { format: 'date-time' };

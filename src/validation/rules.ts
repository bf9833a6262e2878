import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateBy, ValidateIf, ValidateNested, ValidationArguments } from 'class-validator';
import { FIELD_NAMES } from './faults';

/** Where a body's class keeps what it knows of its items. */
export const ITEMS = 'payout-proxy:items';

export interface ItemsOf {
  property: string;
  type: () => new () => object;
}

interface Rule {
  name: string;
  /** What the value must be, as the end of a sentence that begins with the field. */
  must: string;
  required: boolean;
  /** For a field that may be left out only beside another one. */
  requiredIf?: (object: Record<string, unknown>) => boolean;
  test: (value: unknown) => boolean;
}

export function field({ name, must, required, requiredIf, test }: Rule, schema: ApiPropertyOptions): PropertyDecorator {
  const validator = {
    validate: test,
    defaultMessage: (args?: ValidationArguments) => (args?.value === undefined ? `is missing; it ${must}` : must),
  };
  return applyDecorators(
    (_target: object, property: string | symbol) => void FIELD_NAMES.add(String(property)),
    ApiProperty({ required, ...schema } as ApiPropertyOptions),
    ValidateBy({ name, validator }),
    // A JSON null is a value, and a wrong one.
    ValidateIf((object: Record<string, unknown>, value) => value !== undefined || (requiredIf?.(object) ?? required)),
  );
}

export interface TextRules {
  max: number;
  description: string;
  example?: string;
  required?: boolean;
  mayBeEmpty?: boolean;
}

/** Text without control characters, which no record could hold and no person could see. */
export const Text = ({ max, description, example, required = true, mayBeEmpty = false }: TextRules) =>
  field(
    {
      name: 'text',
      required,
      must: `must be text of ${mayBeEmpty ? 'at most' : '1 to'} ${max} characters, without control characters`,
      test: (value) => typeof value === 'string' && isText(value, max) && (mayBeEmpty || value.trim() !== ''),
    },
    {
      type: 'string',
      maxLength: max,
      ...(!mayBeEmpty && { minLength: 1 }),
      description,
      ...(example !== undefined && { example }),
    },
  );

/** Half a surrogate pair has no UTF-8 form: what we would send is not what was validated. */
export function isText(value: string, max: number): boolean {
  return value.length <= max && !/[\p{Cc}\p{Surrogate}]/u.test(value);
}

/** A list of items, at least one; how many at most, the configuration says (`MAX_ITEMS`). */
export const Items = (item: ItemsOf['type']) =>
  applyDecorators(
    (target: object, property: string | symbol) =>
      Reflect.defineMetadata(ITEMS, { property: String(property), type: item } satisfies ItemsOf, target.constructor),
    field(
      {
        name: 'items',
        required: true,
        must: 'must be a list of at least one item',
        test: (value) => Array.isArray(value) && value.length > 0,
      },
      {
        type: () => item(),
        isArray: true,
        minItems: 1,
        maxItems: 1_000,
        description: 'What is to be paid, one entry each.',
      },
    ),
    ValidateNested({ each: true, message: 'must be an object' }),
    Type(item),
  );

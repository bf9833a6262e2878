import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, ValidateNested, ValidationArguments } from 'class-validator';
import { orNull } from '../../../platform/schema/fields';
import { FIELD_NAMES } from '../faults';
import { isText } from './text';

/** The metadata key under which a body's class keeps its item list. */
export const ITEMS = 'payout-proxy:items';

export interface ItemsOf {
  property: string;
  type: () => new () => object;
  /** Maximum number of entries. Undefined allows as many as `MAX_ITEMS`. */
  max?: number;
}

interface RuleOptions {
  /** The fault, as the end of a sentence that begins with the field. */
  must: string;
  required: boolean;
  /** Whether null is a valid value. */
  nullable?: boolean;
  /** Requires the field depending on the others. */
  requiredIf?: (object: Record<string, unknown>) => boolean;
  /** The fault of a missing value. */
  ifMissing?: string;
  test: (value: unknown) => boolean;
}

export function field(rule: RuleOptions, schema: ApiPropertyOptions): PropertyDecorator {
  const { required, nullable = false, requiredIf, test } = rule;
  const must = nullable ? `${rule.must}, or null` : rule.must;
  const ifMissing = rule.ifMissing ?? `is required and ${must}`;
  const { description, ...values } = schema;
  const documented: object = nullable ? { description, ...orNull(values) } : schema;
  const validator = {
    validate: (value: unknown) => (nullable && value === null) || test(value),
    defaultMessage: (args?: ValidationArguments) => (args?.value === undefined ? ifMissing : must),
  };
  return applyDecorators(
    (_target: object, property: string | symbol) => void FIELD_NAMES.add(String(property)),
    ApiProperty({ required, ...documented }),
    ValidateBy({ name: 'field', validator }),
    // A JSON null is a value, and is invalid unless it is allowed.
    ValidateIf(
      (object: Record<string, unknown>, value) => value !== undefined || (requiredIf?.(object) ?? required),
    ),
  );
}

interface TextRules {
  max: number;
  description: string;
  example?: string;
  required?: boolean;
  mayBeEmpty?: boolean;
}

/** Text without control characters, which records cannot store and people cannot see. */
export const Text = ({ max, description, example, required = true, mayBeEmpty = false }: TextRules) =>
  field(
    {
      required,
      must: `must be text of ${mayBeEmpty ? 'at most' : '1 to'} ${max} characters without control characters`,
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

/** A list of at least one item. The configuration limits its length (`MAX_ITEMS`). */
export const Items = (item: ItemsOf['type']) =>
  applyDecorators(
    (target: object, property: string | symbol) =>
      Reflect.defineMetadata(
        ITEMS,
        { property: String(property), type: item } satisfies ItemsOf,
        target.constructor,
      ),
    field(
      {
        required: true,
        must: 'must be a list of at least one item',
        test: (value) => Array.isArray(value) && value.length > 0,
      },
      {
        type: () => item(),
        isArray: true,
        minItems: 1,
        maxItems: 1_000,
        description: 'The payouts, one entry each.',
      },
    ),
    ValidateNested({ each: true, message: 'must be an object' }),
  );

/** A list of entries other than payments, with its own limit. */
export const ListOf = (entry: ItemsOf['type'], { max, description }: { max: number; description: string }) =>
  applyDecorators(
    (target: object, property: string | symbol) =>
      Reflect.defineMetadata(
        ITEMS,
        { property: String(property), type: entry, max } satisfies ItemsOf,
        target.constructor,
      ),
    field(
      {
        required: true,
        must: 'must be a list of at least one entry',
        test: (value) => Array.isArray(value) && value.length > 0,
      },
      { type: () => entry(), isArray: true, minItems: 1, maxItems: max, description },
    ),
    ValidateNested({ each: true, message: 'must be an object' }),
  );

/** The metadata key under which a field keeps the meaning of its values. */
export const MEANING = 'payout-proxy:meaning';

/** Converts a value into the form of its rule and its handler. Returns a wrong value unchanged. */
export type Meaning = (value: unknown) => unknown;

/** Declares how the value of a field is converted before it is checked. */
export const ReadAs = (meaning: Meaning): PropertyDecorator => Reflect.metadata(MEANING, meaning);

/** The metadata key under which a body's class keeps the names of its word lists. */
export const WORD_LISTS = 'payout-proxy:word-lists';

/** A list of text. Elements of other types never reach its rule (src/http/validation/instantiate.ts). */
export const WordList = (rule: RuleOptions, schema: ApiPropertyOptions) =>
  applyDecorators(
    ({ constructor }: object, property: string | symbol) => {
      const others = (Reflect.getMetadata(WORD_LISTS, constructor) ?? []) as string[];
      Reflect.defineMetadata(WORD_LISTS, [...others, String(property)], constructor);
    },
    field(rule, { type: 'array', ...schema }),
  );

/** A list of at least one of a fixed set of words. */
export const SomeOf = (words: readonly string[], { required, nullable = false, description }: SomeOfRules) =>
  WordList(
    {
      required,
      nullable,
      must: `must be a list of at least one of ${words.join(', ')}`,
      test: (value) =>
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= words.length &&
        value.every((word) => words.includes(word as string)),
    },
    { items: { type: 'string', enum: [...words] }, minItems: 1, maxItems: words.length, description },
  );

interface SomeOfRules {
  required: boolean;
  nullable?: boolean;
  description: string;
}

/** Text of letters, digits and a few other characters, in a fixed form. */
export const Slug = ({ pattern, test, must, required, description, example }: SlugRules) =>
  field(
    {
      required,
      must,
      test: (value) => typeof value === 'string' && pattern.test(value) && (test?.(value) ?? true),
    },
    { type: 'string', pattern: pattern.source, description, example },
  );

interface SlugRules {
  pattern: RegExp;
  /** A condition that no pattern can express. */
  test?: (value: string) => boolean;
  must: string;
  required: boolean;
  description: string;
  example: string;
}

const notForwarded = new Set<string>();

/** Marks the class of a body that is not forwarded, where a field of EXTRA_FIELDS_ALLOWED would get lost. */
export const NotForwarded = (): ClassDecorator => (type) => void notForwarded.add(type.name);

/** @param name of a body's class itself: a subclass of `NoProperties` may be forwarded. */
export function isForwarded(name: string): boolean {
  return !notForwarded.has(name);
}

/** A query or body without fields. Any field in it is a fault, and it may be omitted. */
@NotForwarded()
export class NoProperties {}

export function mayBeLeftOut(type: new () => object): boolean {
  return type === NoProperties || type.prototype instanceof NoProperties;
}

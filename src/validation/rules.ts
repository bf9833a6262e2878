import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { isEmail, ValidateBy, ValidateIf, ValidateNested, ValidationArguments } from 'class-validator';
import { Decimal } from 'decimal.js';
import { FIELD_NAMES } from './faults';

/**
 * The most a single amount may be. The interface names no maximum; up to nine digits, a JSON number (an IEEE double) still
 * tells apart all amounts of six decimals, so nothing is rounded on its way.
 */
export const MAX_USD = 999_999_999;

/** Smallest step of an amount. The interface names none; airtime is priced in fractions of a cent, six decimals cover it. */
export const USD_DECIMALS = 6;

/** E.164: a plus, a country code that begins with no zero, 15 digits at most; the shortest numbers in use have 7. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** The interface says "a leading @"; networks differ in the rest, so any of their usual characters pass. */
const HANDLE = /^@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Longest address that can be delivered to (RFC 5321, section 4.5.3.1.3, less its brackets). */
const MAX_EMAIL = 254;

/** What an address may not hold, though RFC 5322 would quote it: blanks, quotes, and characters that nobody sees. */
const NOT_IN_EMAIL = /[\s"\p{C}]/u;

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

/** An amount in US dollars (interface.md: all amounts that callers send are). */
export const UsdAmount = ({ required = true, description }: { required?: boolean; description: string }) =>
  field(
    {
      name: 'usdAmount',
      required,
      must: `must be a number of US dollars greater than 0 and at most ${MAX_USD}, with at most ${USD_DECIMALS} decimals`,
      test: (value) =>
        typeof value === 'number' &&
        value > 0 &&
        value <= MAX_USD &&
        new Decimal(value).decimalPlaces() <= USD_DECIMALS,
    },
    {
      type: 'number',
      description: `${description} At most ${USD_DECIMALS} decimals.`,
      exclusiveMinimum: 0 as unknown as boolean, // a number since JSON Schema 2020-12, which OpenAPI 3.1 uses
      maximum: MAX_USD,
      example: 1.5,
    },
  );

/** The recipient's e-mail; it may be left out where the item has a handle (interface.md, "Credit item", rules 1 and 3). */
export const EmailOrHandle = () =>
  field(
    {
      name: 'emailOrHandle',
      required: false,
      requiredIf: ({ twitter }) => twitter === undefined || twitter === '',
      must: `must be an e-mail address of at most ${MAX_EMAIL} characters; leave it out if twitter names the recipient`,
      test: (value) =>
        typeof value === 'string' && value.length <= MAX_EMAIL && !NOT_IN_EMAIL.test(value) && isEmail(value),
    },
    {
      type: 'string',
      format: 'email',
      maxLength: MAX_EMAIL,
      description: "The recipient's e-mail address. Each item needs it or `twitter`; with both, the e-mail is used.",
      example: 'ada@example.com',
    },
  );

/** The recipient's handle; empty is as good as left out, and both need an e-mail beside them. */
export const Handle = () =>
  field(
    {
      name: 'handle',
      required: false,
      must: 'must be a handle that begins with @ (letters, digits, _ . -), or empty beside an e-mail',
      test: (value) => value === '' || (typeof value === 'string' && HANDLE.test(value)),
    },
    {
      type: 'string',
      pattern: `^$|${HANDLE.source}`,
      maxLength: 65,
      description: "The recipient's handle, with its leading @. May be empty when `email` is given.",
      example: '@ada',
    },
  );

/** A phone number in international format with a leading + (interface.md, "Airtime item"). */
export const PhoneNumber = () =>
  field(
    {
      name: 'phoneNumber',
      required: true,
      must: 'must be a phone number in international format: + and 7 to 15 digits without spaces',
      test: (value) => typeof value === 'string' && PHONE.test(value),
    },
    { type: 'string', pattern: PHONE.source, description: "The recipient's phone number.", example: '+2348012345678' },
  );

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
function isText(value: string, max: number): boolean {
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

import { applyDecorators } from '@nestjs/common';
import { field, ReadAs } from './rules';

/**
 * Largest amount. The interface has no maximum. With nine digits, a JSON number (an IEEE double) is exact to
 * six decimals, so nothing is rounded.
 */
const MAX_USD = 999_999_999;

/** Maximum decimals of an amount. The interface has no step, and airtime costs fractions of a cent. */
const USD_DECIMALS = 6;

/**
 * Largest amount in another currency, and its decimals. Some currencies have thousands of units to the
 * dollar, some three decimals (ISO 4217). A double represents the fifteen digits exactly.
 */
const MAX_LOCAL = 999_999_999_999;
const LOCAL_DECIMALS = 3;

const USD_BOUND = new RegExp(`^\\d{1,14}(\\.\\d{1,${USD_DECIMALS}})?$`);

/** ISO 4217: three letters. The upstream decides which codes it knows. */
const CURRENCY = /^[A-Z]{3}$/;

/** Zero for `exclusiveMinimum`, a number since JSON Schema 2020-12. Its TypeScript type is older. */
const ZERO = 0 as unknown as boolean;

/** An amount in US dollars, like all amounts that callers send (docs/reference/upstream.md). */
export const UsdAmount = ({ required = true, description }: { required?: boolean; description: string }) =>
  amount({
    required,
    unit: ' of US dollars',
    max: MAX_USD,
    decimals: USD_DECIMALS,
    description,
    example: 1.5,
  });

/** An amount in the currency of another field (docs/reference/upstream.md, `mobile-money/collect`). */
export const LocalAmount = (description: string) =>
  amount({
    required: true,
    unit: '',
    max: MAX_LOCAL,
    decimals: LOCAL_DECIMALS,
    description,
    example: 1_500,
  });

/** An amount in US dollars as text in a query, forwarded as written. */
export const UsdAmountText = (description: string) =>
  amountText({ digits: String(MAX_USD).length, decimals: USD_DECIMALS, description, example: '100' });

/** A bound of a sum in US dollars in a query, up to the largest sum of records (numeric(20,6)). */
export const UsdBound = (description: string) =>
  field(
    {
      required: false,
      must:
        `must be a decimal number of US dollars, with at most 14 digits and ${USD_DECIMALS} decimals, ` +
        'such as 100 or 0.5',
      test: (value) => typeof value === 'string' && USD_BOUND.test(value),
    },
    { type: 'string', pattern: USD_BOUND.source, description, example: '100' },
  );

/** An amount in the currency of another field, as text in a query. */
export const LocalAmountText = (description: string) =>
  amountText({ digits: String(MAX_LOCAL).length, decimals: LOCAL_DECIMALS, description, example: '1500' });

/** A currency code (ISO 4217). */
export const CurrencyCode = (description: string, example: string) =>
  field(
    {
      required: true,
      must: `must be a currency code of three capital letters (ISO 4217), such as ${example}`,
      test: (value) => typeof value === 'string' && CURRENCY.test(value),
    },
    { type: 'string', pattern: CURRENCY.source, description, example },
  );

interface Amount {
  required: boolean;
  /** Follows "a number". */
  unit: string;
  max: number;
  decimals: number;
  description: string;
  example: number;
}

/**
 * An amount in a body: a number, or decimal text, which many clients send. It is recorded and forwarded as
 * the number, which the interface takes. With so few digits (MAX_USD, MAX_LOCAL), that loses nothing.
 */
function amount({ required, unit, max, decimals, description, example }: Amount): PropertyDecorator {
  const text = decimalText(String(max).length, decimals);
  return applyDecorators(
    ReadAs((value) => (typeof value === 'string' && text.test(value) ? Number(value) : value)),
    field(
      {
        required,
        must:
          `must be a number${unit} greater than 0 and at most ${max}, with at most ${decimals} decimals, ` +
          `or the same as text, such as "${example}"`,
        // A number has too many decimals exactly if rounding changes it.
        test: (value) =>
          typeof value === 'number' && value > 0 && value <= max && Number(value.toFixed(decimals)) === value,
      },
      {
        anyOf: [
          { type: 'number', exclusiveMinimum: ZERO, maximum: max },
          { type: 'string', pattern: text.source },
        ],
        description: `${description} At most ${decimals} decimals. Text is forwarded as the number.`,
        example,
      },
    ),
  );
}

/** No sign, exponent or leading zero. An amount then has one spelling, except for trailing zeros. */
function decimalText(digits: number, decimals: number): RegExp {
  return new RegExp(`^(?!0(\\.0+)?$)(0|[1-9]\\d{0,${digits - 1}})(\\.\\d{1,${decimals}})?$`);
}

interface AmountText {
  /** The most digits before the decimal point. */
  digits: number;
  decimals: number;
  description: string;
  example: string;
}

function amountText({ digits, decimals, description, example }: AmountText): PropertyDecorator {
  const pattern = decimalText(digits, decimals);
  return field(
    {
      required: true,
      must:
        `must be a decimal number greater than 0, with at most ${digits} digits and ${decimals} decimals, ` +
        `such as ${example}`,
      test: (value) => typeof value === 'string' && pattern.test(value),
    },
    { type: 'string', pattern: pattern.source, description, example },
  );
}

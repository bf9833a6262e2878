import { applyDecorators } from '@nestjs/common';
import { isObject } from '../../platform/json/is-object';
import { isDeeperThan } from './json-body';
import { field } from './rules/rules';

/** The metadata key of a class's free-form field. */
export const FREE_FORM = 'payout-proxy:free-form';

/** Limits of `meta`, a caller's note that is stored for years. Enough for a note, but not for a document. */
const MAX_BYTES = 8_192;
const MAX_DEPTH = 8;

/** A field that accepts any JSON object and keeps it unchanged (docs/reference/upstream.md: `meta?`). */
export const FreeForm = (
  description: string,
  { required = false, example = { order: 'A-17' } }: { required?: boolean; example?: object } = {},
) =>
  applyDecorators(
    (target: object, property: string | symbol) =>
      Reflect.defineMetadata(FREE_FORM, String(property), target.constructor),
    field(
      {
        required,
        must:
          `must be an object of at most ${MAX_BYTES} bytes of JSON and ${MAX_DEPTH} levels. Its text must ` +
          'not contain NUL or unpaired surrogates, and its numbers must keep all their digits (write ' +
          'longer numbers as text)',
        test: (value) =>
          isObject(value) &&
          !isDeeperThan(value, MAX_DEPTH) &&
          Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES && // before the slower check of all values
          travelsUnchanged(value),
      },
      {
        type: 'object',
        additionalProperties: true,
        description: `${description} At most ${MAX_BYTES} bytes of JSON and ${MAX_DEPTH} levels.`,
        example,
      },
    ),
  );

/** Returns whether serializing a parsed JSON value again gives the caller's value. */
function travelsUnchanged(value: unknown): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value);
  if (typeof value === 'number') return isExact(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => travelsUnchanged(name) && travelsUnchanged(inner));
}

/**
 * Returns whether a number survives parsing. 1e309 becomes infinite, and whole numbers above 2^53 lose their
 * last digits. Rounded fractions of more than fifteen digits cannot be detected.
 */
export function isExact(value: number): boolean {
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

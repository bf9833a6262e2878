import { applyDecorators } from '@nestjs/common';
import { isDeeperThan, isPlainObject } from './json-body';
import { field } from './rules';

/** Where a body's class keeps the name of its free-form field. */
export const FREE_FORM = 'payout-proxy:free-form';

/** `meta` is a caller's note to itself, kept with the record for years: enough for a note, too little for a document. */
const MAX_BYTES = 8_192;
const MAX_DEPTH = 8;

/** A body's field that is any JSON object, taken as given (docs/reference/upstream.md: `meta?`). */
export const FreeForm = (
  description: string,
  { required = false, example = { order: 'A-17' } }: { required?: boolean; example?: object } = {},
) =>
  applyDecorators(
    (target: object, property: string | symbol) =>
      Reflect.defineMetadata(FREE_FORM, String(property), target.constructor),
    field(
      {
        name: 'freeForm',
        required,
        must: `must be an object of at most ${MAX_BYTES} bytes of JSON and ${MAX_DEPTH} levels. Its text must not contain NUL or unpaired surrogates, and its numbers must keep all their digits (write longer numbers as text)`,
        test: (value) =>
          isPlainObject(value) &&
          !isDeeperThan(value, MAX_DEPTH) &&
          travelsUnchanged(value) &&
          Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES,
      },
      {
        type: 'object',
        additionalProperties: true,
        description: `${description} At most ${MAX_BYTES} bytes of JSON and ${MAX_DEPTH} levels.`,
        example,
      },
    ),
  );

/** Whether our own serialisation of a parsed JSON value says the same as the caller's did. */
function travelsUnchanged(value: unknown): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value);
  if (typeof value === 'number') return isExact(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => travelsUnchanged(name) && travelsUnchanged(inner));
}

/**
 * 1e309 is infinite once parsed, which JSON cannot say; of whole numbers past 2^53 the last digits change. What a fraction
 * has past its fifteenth digit may still be rounded: once parsed, it can no longer be told.
 */
export function isExact(value: number): boolean {
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

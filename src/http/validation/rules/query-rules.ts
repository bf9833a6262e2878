import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptions } from '@nestjs/swagger';
import { isISO8601 } from 'class-validator';
import { MAIN_ACCOUNT } from '../../../platform/config/upstream/upstream-accounts';
import { Fault } from '../../../platform/errors/problem';
import { fromPageToken, MAX_PAGE_TOKEN, PAGE, PageSizes } from '../../../platform/schema/page';
import { keyIn } from '../idempotency-key';
import { field, ReadAs } from './rules';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An instant in ISO 8601 with its time zone. Without one, a search could miss up to a day of records. */
export const Instant = (description: string, { required = false, nullable = false } = {}) =>
  field(
    {
      required,
      nullable,
      must: 'must be an ISO 8601 time with a time zone, such as 2026-11-20T08:00:00Z',
      test: (value) =>
        typeof value === 'string' &&
        isISO8601(value, { strict: true }) &&
        /(Z|[+-]\d\d:?\d\d)$/.test(value) &&
        // ISO 8601 has more forms (weeks, days of the year) than JavaScript reads
        !Number.isNaN(Date.parse(value)),
    },
    { type: 'string', format: 'date-time', description, example: '2026-11-20T08:00:00Z' },
  );

/** An ID of one of our records. */
export const Uuid = (description: string) =>
  field(
    {
      required: false,
      must: 'must be a UUID, such as 01a1fb98-53b1-7069-a17f-af1e8cacb634',
      test: (value) => typeof value === 'string' && UUID.test(value),
    },
    { type: 'string', format: 'uuid', description },
  );

/** The form of the names of all accounts, `main` included. */
const ACCOUNT = /^[a-z][a-z0-9-]{0,23}$/;

/** The name of an upstream account. */
export const Account = (description: string) =>
  field(
    {
      required: false,
      must: 'must be the name of an upstream account, such as main',
      test: (value) => typeof value === 'string' && ACCOUNT.test(value),
    },
    { type: 'string', pattern: ACCOUNT.source, description, example: MAIN_ACCOUNT },
  );

/** One word of a list. */
export const OneOf = (words: readonly string[], description: string, { required = false } = {}) =>
  field(
    {
      required,
      must: `must be one of ${words.join(', ')}`,
      test: (value) => typeof value === 'string' && words.includes(value),
    },
    { enum: [...words], description },
  );

/** An idempotency key as in its header, bare or quoted. It is read as the bare key. */
export const IdempotencyKey = (description: string) =>
  applyDecorators(
    ReadAs((value) => (typeof value === 'string' ? (keyIn(value) ?? value) : value)),
    field(
      {
        required: false,
        must:
          'must be an Idempotency-Key: 1 to 255 printable ASCII characters without spaces, bare or in ' +
          'double quotes',
        test: (value) => typeof value === 'string' && keyIn(value) !== null,
      },
      { type: 'string', minLength: 1, maxLength: 255, description, example: 'order-17' },
    ),
  );

/** The number of results on a page. */
export const PageSize = ({ max, usual }: PageSizes = PAGE) =>
  wholeNumber(1, max, { default: usual, description: 'The number of results on a page.' });

/** An HTTP status, three digits (RFC 9110, section 15). */
export const HttpStatusCode = (description: string) => wholeNumber(100, 999, { description, example: 200 });

/** A whole number. */
export const WholeNumber = ({
  min,
  max,
  ...schema
}: {
  min: number;
  max: number;
  description: string;
  example: number;
}) => wholeNumber(min, max, schema);

function wholeNumber(min: number, max: number, schema: ApiPropertyOptions) {
  return applyDecorators(
    ReadAs((value) => (typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value)),
    field(
      {
        required: false,
        must: `must be a whole number from ${min} to ${max}`,
        test: (value) => typeof value === 'number' && value >= min && value <= max,
      },
      { type: 'integer', minimum: min, maximum: max, ...schema },
    ),
  );
}

/**
 * A `next_page_token` of an earlier response.
 * @param decode returns undefined for text that is no token of the list.
 */
export const PageToken = (decode: (token: string) => unknown = fromPageToken) =>
  field(
    {
      required: false,
      must: 'must be the next_page_token of an earlier response',
      test: (value) =>
        typeof value === 'string' && value.length <= MAX_PAGE_TOKEN && decode(value) !== undefined,
    },
    {
      type: 'string',
      maxLength: MAX_PAGE_TOKEN,
      description: 'The `next_page_token` of the previous page. Send the same filters.',
    },
  );

/**
 * Returns the fault of an unknown upstream account.
 * @param accounts the accounts of this instance.
 */
export function accountFaults(account: string, accounts: readonly string[]): Fault[] {
  if (accounts.includes(account)) return [];
  return [{ pointer: '/account', detail: `must be an upstream account: ${accounts.join(', ')}` }];
}

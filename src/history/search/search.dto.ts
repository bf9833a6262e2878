import { ACTOR_SOURCES } from '../../access/people/person';
import { UsdBound } from '../../http/validation/rules/money-rules';
import {
  IdempotencyKey,
  Instant,
  OneOf,
  PageSize,
  PageToken,
  Uuid,
} from '../../http/validation/rules/query-rules';
import { field, Text } from '../../http/validation/rules/rules';
import { isText } from '../../http/validation/rules/text';
import { CALL_STATES, STATE_HELP } from '../../operations/lifecycle/lifecycle';
import {
  fromPageToken,
  joinPageToken,
  splitPageToken,
  toPageToken,
  PageRequest,
} from '../../platform/schema/page';
import { APPROVAL_STATUSES } from '../records/record.dto';

/** Results of a search: calls, or their payouts. */
export type ResultKind = 'calls' | 'items';

const SORTS = ['time', 'amount'] as const;
export type Sort = (typeof SORTS)[number];

/** Last result of a page, after which the next page begins. */
export interface Cursor {
  id: string;
  /** Position of the payout, in a list of payouts. */
  position?: number;
  /** Amount in US dollars when sorted by amount. -1 if unset. */
  usd?: string;
}

const USD = /^(-1|\d{1,20}(\.\d{1,40})?)$/;
const MAX_POSITION = 2 ** 31 - 1;

/** Returns the page token. A list of calls by time uses the call ID alone. */
export function toToken(listed: ResultKind, sort: Sort, { id, position = -1, usd = '-1' }: Cursor): string {
  const isIdEnough = listed === 'calls' && sort === 'time';
  return isIdEnough ? toPageToken(id) : joinPageToken([listed, sort, toPageToken(id), position, usd]);
}

/** @returns undefined for text that is no page token. */
export function fromToken(token: string): { listed: ResultKind; sort: Sort; cursor: Cursor } | undefined {
  const callId = fromPageToken(token);
  if (callId) return { listed: 'calls', sort: 'time', cursor: { id: callId } };
  const [listed, sort, idToken = '', position = '', usd = ''] = splitPageToken(token);
  const id = fromPageToken(idToken);
  const isListed = listed === 'calls' || listed === 'items';
  const isSort = sort === 'time' || sort === 'amount';
  if (!isListed || !isSort || !id || !USD.test(usd)) return undefined;
  if (!/^(-1|\d{1,10})$/.test(position) || Number(position) > MAX_POSITION) return undefined;
  return { listed, sort, cursor: { id, position: Number(position), usd } };
}

const MIN_PREFIX = 3;

/** Filters in any combination. All filters of payouts must match the same payout of a call. */
export class SearchFilters {
  @Instant('Received at this instant or later.') from?: string;

  @Instant('Received before this instant.') to?: string;

  @Text({ max: 64, required: false, description: 'Name or ID of the client.', example: 'shop' })
  client?: string;

  @Text({ max: 31, required: false, description: 'Account of the client at the upstream.', example: 'main' })
  account?: string;

  @Uuid('ID of the key that was used.') key?: string;

  @Text({ max: 255, required: false, description: 'The requester. Exact match.', example: 'clerk-17' })
  actor?: string;

  @OneOf(ACTOR_SOURCES, 'Source of the name of the person.') actor_source?: string;

  @Uuid('ID of the person, which remains after an erasure of the name.') person_id?: string;

  @Text({
    max: 100,
    required: false,
    description: 'Name of the operation.',
    example: 'POST /payouts/airtime',
  })
  operation?: string;

  @OneOf(CALL_STATES, `The outcome. ${STATE_HELP}`) outcome?: string;

  @OneOf(['true', 'false'], 'Whether the call is in doubt.') in_doubt?: string;

  @OneOf(APPROVAL_STATUSES, 'Status of the approval.') approval?: string;

  @Text({
    max: 254,
    required: false,
    example: '0712 345 678',
    description:
      'Email, phone number, handle, or sub-account of a payout. Exact match. A phone number can have any ' +
      'format. Without a country code, it matches in every country. Requires `audit:pii`.',
  })
  recipient?: string;

  @field(
    {
      required: false,
      must:
        `must be ${MIN_PREFIX} to 254 characters from the beginning of an email, phone number, handle, or ` +
        'sub-account',
      test: (value) =>
        typeof value === 'string' &&
        [...value].length >= MIN_PREFIX &&
        isText(value, 254) &&
        value.trim() !== '',
    },
    {
      type: 'string',
      minLength: MIN_PREFIX,
      maxLength: 254,
      description:
        'Beginning of the email, phone number, handle, or sub-account of a payout. Requires `audit:pii`.',
      example: '+23480',
    },
  )
  recipient_prefix?: string;

  @Text({
    max: 100,
    required: false,
    description: 'Country of a payout, in any spelling: its name or its code (ISO 3166-1).',
    example: 'Kenya',
  })
  country?: string;

  @Text({ max: 100, required: false, description: 'Network code of a payout. Exact match.', example: 'MPS' })
  network_code?: string;

  @Text({ max: 255, required: false, description: 'Reference of a payout. Exact match.' }) reference?: string;

  @UsdBound('Smallest amount of a payout, in US dollars.') min_item_usd?: string;

  @UsdBound('Largest amount of a payout, in US dollars.') max_item_usd?: string;

  @UsdBound('Smallest total of a call, in US dollars.') min_total_usd?: string;

  @UsdBound('Largest total of a call, in US dollars.') max_total_usd?: string;

  @Text({
    max: 255,
    required: false,
    description: '`upstream_ref`, `upstream_id` or `batch_ref` of a transaction. Exact match.',
  })
  upstream_ref?: string;

  @IdempotencyKey('`Idempotency-Key` of the request, bare or quoted. Exact match.') idempotency_key?: string;

  @Text({ max: 200, required: false, description: '`X-Request-Id` of the request. Exact match.' })
  request_id?: string;

  @Text({
    max: 64,
    required: false,
    description: 'Address of the sender. Exact match.',
    example: '192.0.2.7',
  })
  client_address?: string;
}

/** The filters of a list of calls or payouts. */
export class CallSearch extends SearchFilters implements PageRequest {
  @OneOf(
    SORTS,
    '`time`: newest first. `amount`: largest first, then newest. Calls without an amount are last.',
  )
  sort?: Sort;

  @PageSize() page_size?: number;

  @PageToken(fromToken) page_token?: string;
}

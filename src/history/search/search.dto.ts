import { UsdBound } from '../../http/validation/money-rules';
import { IdempotencyKey, Instant, OneOf, PageSize, Uuid } from '../../http/validation/query-rules';
import { field, isText, Text } from '../../http/validation/rules';
import { fromToken, Sort, SORTS } from './cursor';
import { CALL_STATES, STATE_HELP } from '../../operations/lifecycle';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../records/page';
import { APPROVAL_STATUSES } from '../records/record.dto';

const MIN_PREFIX = 3;
const MAX_TOKEN = 200;

/** Every filter may be combined with every other. Those of payouts all hold for one payout of a call. */
export class SearchFilters {
  @Instant('Received at this instant or later.')
  from?: string;

  @Instant('Received before this instant.')
  to?: string;

  @Text({ max: 64, required: false, description: "The client's name or id.", example: 'shop' })
  client?: string;

  @Uuid('The id of the key it was asked with.')
  key?: string;

  @Text({ max: 128, required: false, description: 'For whom the client asked, exactly.', example: 'clerk-17' })
  actor?: string;

  @Text({ max: 100, required: false, description: "The operation's name.", example: 'POST /payouts/airtime' })
  operation?: string;

  @OneOf(CALL_STATES, `What came of it. ${STATE_HELP}`)
  outcome?: string;

  @OneOf(['true', 'false'], 'Whether it is in doubt.')
  in_doubt?: string;

  @OneOf(APPROVAL_STATUSES, 'What was decided about a held call.')
  approval?: string;

  @Text({
    max: 254,
    required: false,
    example: '0712 345 678',
    description:
      'E-mail, phone, handle or sub-account of a payout, exactly. A phone number may be written in any way, also without its ' +
      'country code: then it is looked for in every country. Needs `audit:pii`.',
  })
  recipient?: string;

  @field(
    {
      name: 'recipientPrefix',
      required: false,
      must: `must be text of ${MIN_PREFIX} to 254 characters, the beginning of an e-mail, phone, handle or sub-account`,
      test: (value) =>
        typeof value === 'string' && [...value].length >= MIN_PREFIX && isText(value, 254) && value.trim() !== '',
    },
    {
      type: 'string',
      minLength: MIN_PREFIX,
      maxLength: 254,
      description: 'How the e-mail, phone, handle or sub-account of a payout begins. Needs `audit:pii`.',
      example: '+23480',
    },
  )
  recipient_prefix?: string;

  @Text({ max: 100, required: false, description: "A payout's country, as given.", example: 'Kenya' })
  country?: string;

  @Text({ max: 100, required: false, description: "A payout's network code, exactly.", example: 'MPS' })
  network_code?: string;

  @Text({ max: 255, required: false, description: "A payout's reference, exactly." })
  reference?: string;

  @UsdBound('A payout of this amount in US dollars or more.')
  min_item_usd?: string;

  @UsdBound('A payout of this amount in US dollars or less.')
  max_item_usd?: string;

  @UsdBound("A call whose payouts' sum in US dollars is this or more.")
  min_total_usd?: string;

  @UsdBound("A call whose payouts' sum in US dollars is this or less.")
  max_total_usd?: string;

  @Text({
    max: 255,
    required: false,
    description: '`upstream_ref`, `upstream_id` or `batch_ref` of a transaction, exactly.',
  })
  upstream_ref?: string;

  @IdempotencyKey('The `Idempotency-Key` it came with, exactly; bare or quoted.')
  idempotency_key?: string;

  @Text({ max: 200, required: false, description: 'Its `X-Request-Id`, exactly.' })
  request_id?: string;

  @Text({ max: 64, required: false, description: 'The address it came from, exactly.', example: '192.0.2.7' })
  client_address?: string;
}

export class CallSearch extends SearchFilters implements PageRequest {
  @OneOf(SORTS, '`time`: newest first. `amount`: largest first, then newest; what has no amount comes last.')
  sort?: Sort;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @field(
    {
      name: 'pageToken',
      required: false,
      must: 'must be the next_page_token of an earlier answer',
      test: (value) => typeof value === 'string' && value.length <= MAX_TOKEN && fromToken(value) !== undefined,
    },
    {
      type: 'string',
      maxLength: MAX_TOKEN,
      description: 'The `next_page_token` of the page before, with the same filters.',
    },
  )
  page_token?: string;
}

/** The same, for payouts. */
export class ItemSearch extends CallSearch {}

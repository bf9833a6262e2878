import { IdempotencyKey, Instant, OneOf, PageSize, PageToken } from '../validation/query-rules';
import { Text } from '../validation/rules';
import { OUTCOME_HELP, OUTCOMES } from './outcome';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from './page';

/** Every filter may be combined with every other. */
export class CallSearch implements PageRequest {
  @Instant('Received at this instant or later.')
  from?: string;

  @Instant('Received before this instant.')
  to?: string;

  @Text({ max: 64, required: false, description: "The client's name or id.", example: 'shop' })
  client?: string;

  @Text({ max: 100, required: false, description: "The operation's name.", example: 'POST /payouts/airtime' })
  operation?: string;

  @OneOf(OUTCOMES, `What came of it. ${OUTCOME_HELP}`)
  outcome?: string;

  @Text({ max: 254, required: false, description: 'E-mail, phone, handle or sub-account of an item, exactly.' })
  recipient?: string;

  @Text({ max: 255, required: false, description: "An item's reference, exactly." })
  reference?: string;

  @Text({ max: 255, required: false, description: '`chiRef`, `id` or `issueID` of a transaction, exactly.' })
  upstream_ref?: string;

  @IdempotencyKey('The `Idempotency-Key` it came with, exactly; bare or quoted.')
  idempotency_key?: string;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

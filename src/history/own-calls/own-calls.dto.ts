import { RESOLUTIONS } from '../../operations/lifecycle';
import { PageRequest } from '../../platform/schema/page';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { IdempotencyKey, PageSize, PageToken, Uuid, WholeNumber } from '../../http/validation/query-rules';
import { field, Text, WordList } from '../../http/validation/rules';
import { readPayoutId } from '../../operations/payout-id';

export class OwnCallSearch implements PageRequest {
  @IdempotencyKey('`Idempotency-Key` of the calls, bare or quoted.')
  idempotency_key?: string;

  @Text({ max: 100, required: false, description: 'Name of the operation.', example: 'POST /payouts/airtime' })
  operation?: string;

  @PageSize()
  page_size?: number;

  @PageToken()
  page_token?: string;
}

/** Many intermediaries close a request that is not answered after a minute. */
const LONGEST_WAIT_SECONDS = 60;

export class OwnCallQuery {
  @WholeNumber({
    min: 0,
    max: LONGEST_WAIT_SECONDS,
    description:
      'Seconds to wait for news. Without it, or if the call is settled, the response comes at once. Otherwise it comes as ' +
      'soon as the call or one of its payouts is in another state, and after this time in any case.',
    example: 25,
  })
  wait?: number;
}

/** How a person may settle payouts. */
export const VERDICTS_BY_HAND = [...RESOLUTIONS, ...(['failed', 'reversed', 'refunded'] as const)] as const;

export type VerdictByHand = (typeof VERDICTS_BY_HAND)[number];

@NotForwarded()
export class ResolutionDto {
  @field(
    {
      required: true,
      must: `must be one of ${VERDICTS_BY_HAND.join(', ')}`,
      test: (value) => VERDICTS_BY_HAND.some((outcome) => outcome === value),
    },
    {
      enum: [...VERDICTS_BY_HAND],
      description:
        '`confirmed`: carried out, so it counts against caps. `not_executed`: it was not, and never will be. `failed`, ' +
        '`reversed`, `refunded`: it was carried out, but the money is back. All but `confirmed` give the amount back to the cap.',
    },
  )
  outcome!: VerdictByHand;

  @WordList(
    {
      required: false,
      must: 'must be a list of at least one payout_id of this call',
      test: (value) => Array.isArray(value) && value.length > 0 && value.every((id) => readPayoutId(String(id))),
    },
    {
      items: { type: 'string', maxLength: 60 },
      minItems: 1,
      maxItems: 10_000,
      description:
        'The payouts that it settles, by `payout_id`. Omit it to settle all that are in doubt or, with `supersedes`, all.',
    },
  )
  payouts?: string[];

  @Text({
    max: 1_000,
    description: 'The evidence, for later readers of the record.',
    example: 'The provider says so.',
  })
  reason!: string;

  @Uuid(
    'The newest `settlements[].id` of the call to correct or, without one, the ID of the call. Omit it for a call in doubt.',
  )
  supersedes?: string;
}

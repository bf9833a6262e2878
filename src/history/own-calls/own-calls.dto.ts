import { Resolution, RESOLUTIONS } from '../../operations/lifecycle';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../records/page';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { IdempotencyKey, PageSize, PageToken, Uuid } from '../../http/validation/query-rules';
import { field, Text } from '../../http/validation/rules';

export class OwnCallSearch implements PageRequest {
  @IdempotencyKey('`Idempotency-Key` of the calls, bare or quoted.')
  idempotency_key?: string;

  @Text({ max: 100, required: false, description: 'Name of the operation.', example: 'POST /payouts/airtime' })
  operation?: string;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

@NotForwarded()
export class ResolutionDto {
  @field(
    {
      name: 'outcome',
      required: true,
      must: `must be ${RESOLUTIONS.join(' or ')}`,
      test: (value) => RESOLUTIONS.some((outcome) => outcome === value),
    },
    {
      enum: [...RESOLUTIONS],
      description:
        '`confirmed`: the call was carried out and counts against caps. `not_executed`: it was not, and its reservation is released.',
    },
  )
  outcome!: Resolution;

  @Text({
    max: 1_000,
    description: 'The evidence, for later readers of the record.',
    example: 'The provider says so.',
  })
  reason!: string;

  @Uuid('The `resolution.id` to correct. Omit it for a call in doubt.')
  supersedes?: string;
}

import { Resolution, RESOLUTIONS } from '../../operations/lifecycle';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../records/page';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { IdempotencyKey, PageSize, PageToken, Uuid } from '../../http/validation/query-rules';
import { field, Text } from '../../http/validation/rules';

export class OwnCallSearch implements PageRequest {
  @IdempotencyKey('The `Idempotency-Key` that the calls came with; bare or quoted.')
  idempotency_key?: string;

  @Text({ max: 100, required: false, description: "The operation's name.", example: 'POST /payouts/airtime' })
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
        '`confirmed`: it was carried out, and counts. `not_executed`: it was not; what it had reserved is given back.',
    },
  )
  outcome!: Resolution;

  @Text({
    max: 1_000,
    description: 'How you know, for those who read the record later.',
    example: 'The provider says so.',
  })
  reason!: string;

  @Uuid(
    'To correct how the call was settled: the `resolution.id` that this supersedes. Leave it out for a call in doubt.',
  )
  supersedes?: string;
}

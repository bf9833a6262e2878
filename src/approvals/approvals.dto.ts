import { ApiProperty } from '@nestjs/swagger';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../audit/page';
import { APPROVAL_STATUSES, CallRecord } from '../audit/record.dto';
import { NotForwarded } from '../validation/nothing.dto';
import { OneOf, PageSize, PageToken } from '../validation/query-rules';
import { field, Text } from '../validation/rules';

export class ApprovalSearch implements PageRequest {
  @OneOf(APPROVAL_STATUSES, 'What was decided; without it, `pending`.')
  status?: (typeof APPROVAL_STATUSES)[number];

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

const HASH = /^[0-9a-f]{64}$/;

@NotForwarded()
export class DecisionDto {
  @Text({ max: 1_000, description: 'Why, for those who read the record later.', example: 'Agreed with the shop.' })
  reason!: string;

  @field(
    {
      name: 'contentHash',
      required: false,
      must: 'must be the content_hash of the approval, 64 hexadecimal digits',
      test: (value) => typeof value === 'string' && HASH.test(value),
    },
    {
      type: 'string',
      pattern: HASH.source,
      description: 'The `content_hash` of what you looked at: you decide on this, or on nothing.',
    },
  )
  content_hash?: string;
}

export class ApprovalPage {
  @ApiProperty({ type: [CallRecord], description: 'Newest first.' }) approvals!: CallRecord[];
  @ApiProperty({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: 'For `page_token`; null on the last page.',
  })
  next_page_token!: string | null;
}

import { APPROVAL_STATUSES, CallRecord, FullCallRecord } from '../../history/records/record.dto';
import { OneOf, PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text } from '../../http/validation/rules/rules';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { PROBLEMS } from '../../platform/errors/problems';
import { BOOLEAN, described, nullable, TEXT, USD } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { CapDto } from '../limits/cap';

export class ApprovalSearch implements PageRequest {
  @OneOf(APPROVAL_STATUSES, 'Status of the approval. Default: `pending`.')
  status?: (typeof APPROVAL_STATUSES)[number];

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

const HASH = /^[0-9a-f]{64}$/;

@NotForwarded()
export class DecisionDto {
  @Text({
    max: 1_000,
    description: 'Reason for the decision, which is recorded.',
    example: 'Agreed with the shop.',
  })
  reason!: string;

  @field(
    {
      required: false,
      must: 'must be the content_hash of the approval, 64 hexadecimal digits',
      test: (value) => typeof value === 'string' && HASH.test(value),
    },
    {
      type: 'string',
      pattern: HASH.source,
      description: 'The `content_hash` that you read. A call with another hash is not decided.',
    },
  )
  content_hash?: string;
}

/** A cap that the call counts against, now and after the approval. */
export class CapAfterDto extends CapDto {
  @described(USD, 'Spending if the call is approved now.') after_usd!: string;
  @nullable(USD, 'Remaining amount if the call is approved now. Null: no cap.') left_after_usd!:
    | string
    | null;
}

/**
 * Effect of an approval on the caps of the requesting client, its person and its ephemeral key. The call
 * counts on the day of its approval.
 */
export class CapsAfterDto {
  @described({ type: CapAfterDto }, 'From midnight to midnight UTC.') daily!: CapAfterDto;
  @described({ type: CapAfterDto }, 'The calendar month, UTC.') monthly!: CapAfterDto;
  @nullable(CapAfterDto, 'Day of the person.') person_daily!: CapAfterDto | null;
  @nullable(CapAfterDto, 'Month of the person.') person_monthly!: CapAfterDto | null;
  @nullable(CapAfterDto, 'Total of the ephemeral key.') ephemeral_key!: CapAfterDto | null;
  @described(
    BOOLEAN,
    'Whether the call fits all caps. If not, it cannot be approved now (403 `cap_exceeded`).',
  )
  fits!: boolean;
}

const CAPS =
  'Effect of an approval on the caps. Pending calls reserve nothing, so other pending calls are not ' +
  'counted. Null once the call is decided or has expired.';

/** A rule of the client that forbids a held call now. */
export class NotAllowedDto {
  @described({ enum: Object.keys(PROBLEMS) }, 'Code of the error that the client would receive now.')
  code!: string;
  @described(TEXT, 'What the rule forbids.') detail!: string;
  @described({ type: [FaultDto] }, 'The fields concerned, if any.') errors!: FaultDto[];
}

const NOT_ALLOWED =
  'Why the call cannot be approved now: a rule of the client that forbids it, even if it was allowed ' +
  'when requested (409 `no_longer_allowed`), or `content_lost`. Null if there is no reason, and once ' +
  'the call is decided or has expired.';

export class ApprovalRecord extends CallRecord {
  @nullable(CapsAfterDto, CAPS) caps!: CapsAfterDto | null;
  @nullable(NotAllowedDto, NOT_ALLOWED) not_allowed!: NotAllowedDto | null;
}

export class FullApprovalRecord extends FullCallRecord {
  @nullable(CapsAfterDto, CAPS) caps!: CapsAfterDto | null;
  @nullable(NotAllowedDto, NOT_ALLOWED) not_allowed!: NotAllowedDto | null;
}

export class ApprovalPage {
  @described({ type: [ApprovalRecord] }, 'Newest first.') approvals!: ApprovalRecord[];
  @nextPageToken() next_page_token!: string | null;
}

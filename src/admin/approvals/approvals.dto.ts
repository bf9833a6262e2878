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
    description: 'Reason for the record.',
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
      description: 'Expected `content_hash` of the call. Another one is refused.',
    },
  )
  content_hash?: string;
}

/** A cap of the call, now and after the approval. */
export class CapAfterDto extends CapDto {
  @described(USD, 'Spending if the call is approved now.') after_usd!: string;
  @nullable(USD, 'Remaining amount if the call is approved now. Null without a cap.')
  left_after_usd!: string | null;
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
  @described(BOOLEAN, 'Whether the call fits all caps. If not, an approval gets 403 `cap_exceeded`.')
  fits!: boolean;
}

const CAPS =
  'Effect of an approval on the caps. Other pending calls are not counted, because they reserve nothing. ' +
  'Null for decided and expired calls.';

/** A rule of the client that forbids a held call now. */
export class NotAllowedDto {
  @described({ enum: Object.keys(PROBLEMS) }, 'Code of the error that the client would receive now.')
  code!: string;
  @described(TEXT, 'Text of the error.') detail!: string;
  @described({ type: [FaultDto] }, 'Faults of fields, if any.') errors!: FaultDto[];
}

const NOT_ALLOWED =
  'Obstacle to an approval now: a rule of the client, also one from after the request (409 ' +
  '`no_longer_allowed`), or `content_lost`. Null without an obstacle, and for decided and expired calls.';

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

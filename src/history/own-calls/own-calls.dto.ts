import { PickType } from '@nestjs/swagger';
import {
  IdempotencyKey,
  OneOf,
  PageSize,
  PageToken,
  Uuid,
  WholeNumber,
} from '../../http/validation/rules/query-rules';
import { NotForwarded, Text, WordList } from '../../http/validation/rules/rules';
import { readPayoutId } from '../../operations/catalogue/payout-id';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle/lifecycle';
import { described, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { PageRequest } from '../../platform/schema/page';
import { RecordEntry } from '../records/record-parts.dto';
import { RecordItem } from '../records/record.dto';
import { VERDICTS_BY_HAND, VerdictByHand } from './verdicts';

export class OwnCallSearch implements PageRequest {
  @IdempotencyKey('`Idempotency-Key` of the calls, bare or quoted.') idempotency_key?: string;

  @Text({
    max: 100,
    required: false,
    description: 'Name of the operation.',
    example: 'POST /payouts/airtime',
  })
  operation?: string;

  @OneOf(CALL_STATES, `State of the calls. ${STATE_HELP}`) state?: CallState;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

/** Longest wait. Many intermediaries close an unanswered request after a minute. */
const LONGEST_WAIT_SECONDS = 60;

export class OwnCallQuery {
  @WholeNumber({
    min: 0,
    max: LONGEST_WAIT_SECONDS,
    description:
      'Maximum number of seconds to wait for a change. The response comes as soon as the call or one of ' +
      'its payouts is in another state. It comes at once if the call is settled.',
    example: 25,
  })
  wait?: number;
}

@NotForwarded()
export class ResolutionDto {
  @OneOf(
    VERDICTS_BY_HAND,
    '`confirmed`: carried out, and counted against caps. `not_executed`: not carried out, now or later. ' +
      '`failed`, `reversed`, `refunded`: carried out, but the money is back. All but `confirmed` give the ' +
      'amount back to the cap.',
    { required: true },
  )
  outcome!: VerdictByHand;

  @WordList(
    {
      required: false,
      must: 'must be a list of at least one payout_id of this call',
      test: (value) =>
        Array.isArray(value) && value.length > 0 && value.every((id) => readPayoutId(String(id))),
    },
    {
      items: { type: 'string', maxLength: 60 },
      minItems: 1,
      maxItems: 10_000,
      description:
        'The payouts to settle, by `payout_id`. Default: all that are in doubt or, with `supersedes`, all.',
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
    'The newest `settlements[].id` of the call to correct. The ID of the call if it has none. Omit it for ' +
      'a call in doubt.',
  )
  supersedes?: string;
}

/** A payout and its history. */
export class PayoutRecord extends PickType(RecordItem, [
  'position',
  'state',
  'next',
  'amount_usd',
  'fee_usd',
] as const) {
  @described({ ...TEXT, example: '01999999-1234-7890-abcd-0123456789ab.0' }, 'ID of the payout.') id!: string;
  @described(UUID, 'ID of its call.') call_id!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described({ enum: CALL_STATES }, 'The outcome of its call.') outcome!: CallState;
  @nullable(TEXT, 'Reason for the state. Null if it comes from the answer.') reason!: string | null;
  @described({ type: RecordItem }, 'The item of the request, with its transaction.') item!: RecordItem;
  @described({ type: [RecordEntry] }, 'Its ledger, oldest entry first. The last entry is in effect.')
  ledger!: RecordEntry[];
}

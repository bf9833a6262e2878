import { ApiProperty } from '@nestjs/swagger';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { ACTION_NAMES } from '../../platform/errors/kinds';
import { FIRST_CALL_STATES } from '../../platform/errors/problem';
import { PROBLEMS } from '../../platform/errors/problems';
import {
  COUNT,
  described,
  INSTANT,
  INTEGER,
  nullable,
  optional,
  SIGNED_USD,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { HELD_FOR } from '../../policy/limits/holds';

export class PreviewFault extends FaultDto {
  @described({ enum: Object.keys(PROBLEMS) }, 'The error code, for programs.') code!: string;
}

export class PreviewRefusal {
  @described(INTEGER, 'HTTP status.') status!: number;
  @described({ enum: Object.keys(PROBLEMS) }, 'The error code, for programs.') code!: string;
  @described({ enum: [...ACTION_NAMES] }, 'The next step of your program, as for the errors of operations.')
  action!: string;
  @described(TEXT, 'The event, and the remedy.') detail!: string;
  @described({ type: [FaultDto] }, 'The fields that caused it.') errors!: FaultDto[];
  @described(COUNT, 'The number of errors. `errors` lists the first 100.') errors_total!: number;
  @optional(UUID, 'The call that this request repeats.') first_call_id?: string;
  @optional({ enum: FIRST_CALL_STATES }, 'The state of that call.') first_call_state?: string;
}

export class PreviewReplay {
  @described(UUID, 'The call whose answer would be replayed.') first_call_id!: string;
  @described(INTEGER, 'HTTP status of that answer.') status!: number;
}

export class PreviewApproval {
  @ApiProperty({
    enum: HELD_FOR,
    description:
      '`over_threshold`: the total exceeds the threshold. `over_recipient_threshold`: a recipient would ' +
      'get more today than the threshold per recipient. `over_daily_threshold`: your client would pay ' +
      'more today than the threshold per day. `seen_before`: your client paid the same amount to the ' +
      'same recipient within the days of `hold_duplicates_days`. `seen_across_clients`: another client ' +
      'did so a short time ago. `unexplained_payment`: the upstream paid the same in a recovery gap. ' +
      '`new_beneficiary`: a recipient was registered a short time ago. `screening_review`: never in a ' +
      'preview, which submits nothing to the screening service.',
  })
  reason!: string;
  @nullable(SIGNED_USD, 'The threshold that the request exceeds, or else that of a call. Null without one.')
  threshold_usd!: string | null;
  @nullable(UUID, 'The latest call that paid the same. Null unless the reason is `seen_before`.')
  earlier_call_id!: string | null;
}

export class PreviewCap {
  @nullable(SIGNED_USD, 'The cap. Null without a cap.') cap_usd!: string | null;
  @described(SIGNED_USD, 'Sum of all amounts that were paid, are being paid or may have been paid.')
  spent_usd!: string;
  @nullable(SIGNED_USD, 'Amount left under the cap. Null without a cap.') left_usd!: string | null;
  @nullable(
    SIGNED_USD,
    'Amount left after this payout. Negative above the cap. Null without a cap or a known total.',
  )
  left_after_usd!: string | null;
}

export class PreviewCaps {
  @described({ type: PreviewCap }, 'The day, from midnight to midnight UTC.') daily!: PreviewCap;
  @described({ type: PreviewCap }, 'The calendar month, in UTC.') monthly!: PreviewCap;
}

export class PreviewLocalAmount {
  @ApiProperty({ type: 'string', description: 'ISO 4217.', example: 'KES' }) currency!: string;
  @described(SIGNED_USD, "The amount at the upstream's current rate.") amount!: string;
}

export class PreviewItem {
  @described(COUNT, "The item's position in the body's list, from 0.") position!: number;
  @nullable(TEXT, 'The recipient, in the form used for comparisons: the domain of an email is in lowercase.')
  recipient!: string | null;
  @nullable(SIGNED_USD, 'The exact amount in US dollars.') amount_usd!: string | null;
  @nullable(TEXT, "The country in the upstream's spelling, or as sent if the upstream lacks it.")
  country!: string | null;
  @nullable(TEXT, 'The mobile money network code.') network_code!: string | null;
  @nullable(
    PreviewLocalAmount,
    'Amount in local currency for the recipient. Null if the upstream did not state it.',
  )
  local_amount!: PreviewLocalAmount | null;
  @described({ type: [String] }, 'Notes to check before you pay.') notes!: string[];
}

export class PreviewDuplicate {
  @described(COUNT, 'The position of the item that repeats a payment.') position!: number;
  @ApiProperty({
    enum: ['inside_batch', 'seen_before'],
    description:
      '`inside_batch`: an earlier item of this request pays the same. `seen_before`: your client requested ' +
      'the same within the last seven days, or within `hold_duplicates_days` if that is longer.',
  })
  kind!: string;
  @optional(COUNT, 'The position of the first such item. Present for `inside_batch`.')
  same_as_position?: number;
  @optional(UUID, 'The latest such call. Present for `seen_before`.') call_id?: string;
  @optional(INSTANT, 'Time of that call.') paid_at?: Date;
}

/** The forecast of a request. */
export class Preview {
  @ApiProperty({
    enum: ['be_sent', 'wait_for_approval', 'be_refused', 'be_replayed'],
    description:
      'The forecast. `be_replayed`: the Idempotency-Key belongs to an equal request, and replays its answer.',
  })
  would!: string;
  @nullable(PreviewRefusal, 'The error of the request.') refusal!: PreviewRefusal | null;
  @nullable(PreviewReplay, 'The answer that would be replayed.') replay!: PreviewReplay | null;
  @ApiProperty({
    type: [PreviewFault],
    description:
      'Every error in the request. An item with an error is not checked further. If any item has an error, ' +
      'the request is not compared with caps and earlier requests.',
  })
  errors!: PreviewFault[];
  @described(COUNT, 'The number of errors. `errors` lists the first 100 of each code.') errors_total!: number;
  @described(COUNT, 'The number of items.') item_count!: number;
  @nullable(SIGNED_USD, 'The exact total of all items in US dollars. Null unless every amount is known.')
  total_usd!: string | null;
  @nullable(
    SIGNED_USD,
    "The upstream's expected fees in US dollars. They count on the caps. Null if none are expected.",
  )
  fee_usd!: string | null;
  @nullable(
    { ...TEXT, enum: ['checked', 'unchecked'] },
    "Whether the destinations were checked against the upstream's lists. Null without such a list.",
  )
  coverage!: string | null;
  @nullable(PreviewApproval, 'The required approval. Null without one.')
  approval!: PreviewApproval | null;
  @ApiProperty({
    type: PreviewCaps,
    description:
      'The caps of your client or, with an ephemeral key or an access token, of its person, ' +
      'and the amounts left after this payout.',
  })
  caps!: PreviewCaps;
  @nullable(TEXT, "The operator's reason for stopping the operation. Null if it is not stopped.") stopped!:
    | string
    | null;
  @described({ type: [PreviewItem] }, 'The items without errors.') items!: PreviewItem[];
  @described({ type: [PreviewDuplicate] }, 'Items that repeat a payment. A warning, not an error.')
  duplicates!: PreviewDuplicate[];
}

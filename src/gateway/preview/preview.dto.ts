import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { ACTION_NAMES } from '../../platform/errors/actions';
import { FIRST_CALL_STATES } from '../../platform/errors/problem';
import { PROBLEMS } from '../../platform/errors/problems';
import { HELD_FOR } from '../../policy/holds';

const USD = { pattern: '^-?\\d+(\\.\\d+)?$', example: '10.5' };
const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const orNull = (model: new () => object, description: string) => (target: object, property: string) => {
  ApiExtraModels(model)(target.constructor);
  ApiProperty({ anyOf: [{ $ref: getSchemaPath(model) }, { type: 'null' }], description })(target, property);
};
const position = (description: string) => ApiProperty({ type: 'integer', minimum: 0, description });
const code = () => ApiProperty({ enum: Object.keys(PROBLEMS), description: 'The error code, for programs.' });

export class PreviewFault extends FaultDto {
  @code() code!: string;
}

export class PreviewRefusal {
  @ApiProperty({ type: 'integer', description: 'HTTP status.' }) status!: number;
  @code() code!: string;
  @ApiProperty({
    enum: [...ACTION_NAMES],
    description: 'What your program does next, as for the errors of operations.',
  })
  action!: string;
  @ApiProperty({ type: 'string', description: 'What happened and what to do.' }) detail!: string;
  @ApiProperty({ type: [FaultDto], description: 'The fields that caused it, if any.' }) errors!: FaultDto[];
  @ApiProperty({ type: 'integer', minimum: 0, description: 'The number of errors. `errors` lists the first 100.' })
  errors_total!: number;
  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'The call that this request repeats.' })
  first_call_id?: string;
  @ApiPropertyOptional({ enum: FIRST_CALL_STATES, description: 'The state of that call.' })
  first_call_state?: string;
}

export class PreviewReplay {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The call whose answer would be replayed.' })
  first_call_id!: string;
  @ApiProperty({ type: 'integer', description: 'HTTP status of that answer.' }) status!: number;
}

export class PreviewApproval {
  @ApiProperty({
    enum: HELD_FOR,
    description:
      '`over_threshold`: the total exceeds the threshold. `over_recipient_threshold`: a recipient would get more today ' +
      'than the threshold per recipient. `over_daily_threshold`: your client would pay more today than the threshold ' +
      'per day. `seen_before`: your client paid the same amount to the same recipient within the days of ' +
      '`hold_duplicates_days`. `seen_across_clients`: another client did so a short time ago. ' +
      '`unexplained_payment`: the upstream paid the same, and the record of that was lost with an older database. ' +
      '`new_beneficiary`: a recipient was registered a short time ago. `screening_review`: never in a preview, which does ' +
      'not ask the screening service.',
  })
  reason!: string;
  @nullable('string', 'The threshold that the request exceeds, or else that of a call. Null without one.', USD)
  threshold_usd!: string | null;
  @nullable('string', 'The latest call that paid the same. Null unless the reason is `seen_before`.', {
    format: 'uuid',
  })
  earlier_call_id!: string | null;
}

export class PreviewCap {
  @nullable('string', 'The cap. Null without a cap.', USD) cap_usd!: string | null;
  @ApiProperty({
    type: 'string',
    ...USD,
    description: 'The sum of what was paid, is being paid, or may have been paid.',
  })
  spent_usd!: string;
  @nullable('string', 'What may still be paid. Null without a cap.', USD) left_usd!: string | null;
  @nullable(
    'string',
    'What would be left after this payout. Negative if the payout exceeds the cap. Null without a cap or a known total.',
    USD,
  )
  left_after_usd!: string | null;
}

export class PreviewCaps {
  @ApiProperty({ type: PreviewCap, description: 'The day, from midnight to midnight UTC.' }) daily!: PreviewCap;
  @ApiProperty({ type: PreviewCap, description: 'The calendar month, in UTC.' }) monthly!: PreviewCap;
}

export class PreviewLocalAmount {
  @ApiProperty({ type: 'string', description: 'ISO 4217.', example: 'KES' }) currency!: string;
  @ApiProperty({ type: 'string', ...USD, description: "The amount at the upstream's current rate." }) amount!: string;
}

export class PreviewItem {
  @position("The item's position in the body's list, from 0.") position!: number;
  @nullable('string', 'The recipient, in the form used for comparisons: the domain of an email is in lowercase.')
  recipient!: string | null;
  @nullable('string', 'The exact amount in US dollars.', USD) amount_usd!: string | null;
  @nullable('string', "The country in the upstream's spelling, or as given if the upstream does not know it.")
  country!: string | null;
  @nullable('string', 'The mobile money network code.') network_code!: string | null;
  @orNull(PreviewLocalAmount, 'What the recipient would get. Null if the upstream did not state it.')
  local_amount!: PreviewLocalAmount | null;
  @ApiProperty({ type: [String], description: 'Things to check before you pay.' }) notes!: string[];
}

export class PreviewDuplicate {
  @position('The position of the item that pays a recipient the same amount again.') position!: number;
  @ApiProperty({
    enum: ['inside_batch', 'seen_before'],
    description:
      '`inside_batch`: an earlier item of this request pays the same. `seen_before`: your client requested the ' +
      'same within the last seven days, or within `hold_duplicates_days` if that is longer.',
  })
  kind!: string;
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'The position of the first such item. Present for `inside_batch`.',
  })
  same_as_position?: number;
  @ApiPropertyOptional({
    type: 'string',
    format: 'uuid',
    description: 'The latest such call. Present for `seen_before`.',
  })
  call_id?: string;
  @ApiPropertyOptional({ type: 'string', format: 'date-time', description: 'When that call was sent or requested.' })
  paid_at?: Date;
}

/** What would happen if a request was sent now. */
export class Preview {
  @ApiProperty({
    enum: ['be_sent', 'wait_for_approval', 'be_refused', 'be_replayed'],
    description:
      'What would happen. `be_replayed`: the Idempotency-Key belongs to the same request, whose answer would be replayed.',
  })
  would!: string;
  @orNull(PreviewRefusal, 'The error that the request would get.') refusal!: PreviewRefusal | null;
  @orNull(PreviewReplay, 'The answer that would be replayed.') replay!: PreviewReplay | null;
  @ApiProperty({
    type: [PreviewFault],
    description:
      'Every error in the request. An item with an error is not checked further. If any item has an error, the request is ' +
      'not compared with caps and earlier requests.',
  })
  errors!: PreviewFault[];
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'The number of errors. `errors` lists the first 100 of each code.',
  })
  errors_total!: number;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'The number of items.' }) item_count!: number;
  @nullable('string', 'The exact total of all items in US dollars. Null unless every amount is known.', USD)
  total_usd!: string | null;
  @nullable(
    'string',
    "The upstream's expected fees in US dollars. They count on the caps. Null if none are expected.",
    USD,
  )
  fee_usd!: string | null;
  @nullable(
    'string',
    "Whether the destinations were checked against the upstream's lists. Null if there is no list for the operation.",
    {
      enum: ['checked', 'unchecked'],
    },
  )
  coverage!: string | null;
  @orNull(PreviewApproval, 'The approval that the request would need. Null if it needs none.')
  approval!: PreviewApproval | null;
  @ApiProperty({
    type: PreviewCaps,
    description:
      'The caps of your client or, with an ephemeral key or an access token, of its person, and what this payout would leave of them.',
  })
  caps!: PreviewCaps;
  @nullable('string', 'Why the operator has stopped the operation. Null if it is not stopped.') stopped!: string | null;
  @ApiProperty({ type: [PreviewItem], description: 'The items without errors.' }) items!: PreviewItem[];
  @ApiProperty({
    type: [PreviewDuplicate],
    description: 'Items that pay the same again. They are a warning, not an error.',
  })
  duplicates!: PreviewDuplicate[];
}

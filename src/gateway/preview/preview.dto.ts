import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { ACTION_NAMES } from '../../platform/errors/actions';
import { FIRST_CALL_STATES } from '../../platform/errors/problem';
import { PROBLEMS } from '../../platform/errors/problems';

const USD = { pattern: '^-?\\d+(\\.\\d+)?$', example: '10.5' };
const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const orNull = (model: new () => object, description: string) => (target: object, property: string) => {
  ApiExtraModels(model)(target.constructor);
  ApiProperty({ anyOf: [{ $ref: getSchemaPath(model) }, { type: 'null' }], description })(target, property);
};
const position = (description: string) => ApiProperty({ type: 'integer', minimum: 0, description });
const code = () => ApiProperty({ enum: Object.keys(PROBLEMS), description: 'The same for programs.' });

export class PreviewFault extends FaultDto {
  @code() code!: string;
}

export class PreviewRefusal {
  @ApiProperty({ type: 'integer', description: 'HTTP status.' }) status!: number;
  @code() code!: string;
  @ApiProperty({
    enum: [...ACTION_NAMES],
    description: 'What a program does about it; see the errors of the operations.',
  })
  action!: string;
  @ApiProperty({ type: 'string', description: 'What to do about it.' }) detail!: string;
  @ApiProperty({ type: [FaultDto], description: 'Where, if it is about parts of the request.' }) errors!: FaultDto[];
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many `errors` there are; the first 100 are listed.' })
  errors_total!: number;
  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'The call that this request repeats.' })
  first_call_id?: string;
  @ApiPropertyOptional({ enum: FIRST_CALL_STATES, description: 'What became of that call so far.' })
  first_call_state?: string;
}

export class PreviewReplay {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The call whose answer would be given again.' })
  first_call_id!: string;
  @ApiProperty({ type: 'integer', description: 'HTTP status of that answer.' }) status!: number;
}

export class PreviewApproval {
  @ApiProperty({
    enum: ['over_threshold', 'seen_across_clients'],
    description: 'The total is over the threshold; or another client has paid the same to the same recipient just now.',
  })
  reason!: string;
  @nullable('string', 'A payout of more US dollars waits for an approval.', USD) threshold_usd!: string | null;
}

export class PreviewCap {
  @nullable('string', 'The most that may be paid; null: no cap.', USD) cap_usd!: string | null;
  @ApiProperty({ type: 'string', ...USD, description: 'Paid, or about to be, or perhaps paid.' }) spent_usd!: string;
  @nullable('string', 'What may still be paid; null: no cap.', USD) left_usd!: string | null;
  @nullable(
    'string',
    'What would be left if this was paid, negative where it is over the cap; null: no cap, or the total is not known.',
    USD,
  )
  left_after_usd!: string | null;
}

export class PreviewCaps {
  @ApiProperty({ type: PreviewCap, description: 'From midnight to midnight UTC.' }) daily!: PreviewCap;
  @ApiProperty({ type: PreviewCap, description: 'The calendar month, UTC.' }) monthly!: PreviewCap;
}

export class PreviewLocalAmount {
  @ApiProperty({ type: 'string', description: 'ISO 4217.', example: 'KES' }) currency!: string;
  @ApiProperty({ type: 'string', ...USD, description: 'As the upstream converts now.' }) amount!: string;
}

export class PreviewItem {
  @position("Place in the body's list, from 0.") position!: number;
  @nullable('string', 'Who would be paid, in the form in which it is compared: a domain in small letters.')
  recipient!: string | null;
  @nullable('string', 'US dollars, exact.', USD) amount_usd!: string | null;
  @nullable('string', 'As the upstream writes it, where it has such a country; else as given.') country!: string | null;
  @nullable('string', 'Mobile money network code.') network_code!: string | null;
  @orNull(PreviewLocalAmount, 'What its recipient would get; null where the upstream did not say.')
  local_amount!: PreviewLocalAmount | null;
  @ApiProperty({ type: [String], description: 'What is worth a look before it is paid.' }) notes!: string[];
}

export class PreviewDuplicate {
  @position('Of the item that pays a recipient the same amount again.') position!: number;
  @ApiProperty({
    enum: ['inside_batch', 'seen_before'],
    description: 'Again within this request; or your client asked for it within the last seven days.',
  })
  kind!: string;
  @ApiPropertyOptional({ type: 'integer', minimum: 0, description: 'The first such item, `inside_batch`.' })
  same_as_position?: number;
  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'The latest such call, `seen_before`.' })
  call_id?: string;
  @ApiPropertyOptional({ type: 'string', format: 'date-time', description: 'When that was sent, or asked for.' })
  paid_at?: Date;
}

/** What would happen if a request was made now. */
export class Preview {
  @ApiProperty({
    enum: ['be_sent', 'wait_for_approval', 'be_refused', 'be_replayed'],
    description: '`be_replayed`: its Idempotency-Key was used for the same request, whose answer would be given again.',
  })
  would!: string;
  @orNull(PreviewRefusal, 'The refusal that it would get.') refusal!: PreviewRefusal | null;
  @orNull(PreviewReplay, 'What would be repeated.') replay!: PreviewReplay | null;
  @ApiProperty({
    type: [PreviewFault],
    description:
      'All that speaks against it, of whatever kind. An item with a fault of its own is looked at no further, and then the ' +
      'whole is not compared with caps and earlier requests.',
  })
  errors!: PreviewFault[];
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'How many there are; of each kind the first 100 are listed.',
  })
  errors_total!: number;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many items it has.' }) item_count!: number;
  @nullable('string', 'US dollars of all items, exact; null where none or not all is known.', USD)
  total_usd!: string | null;
  @nullable('string', "The upstream's fee in US dollars; always null, as its interface documents none.", USD)
  fee_usd!: string | null;
  @nullable('string', "Whether its countries and networks were found in the upstream's lists; null: there are none.", {
    enum: ['checked', 'unchecked'],
  })
  coverage!: string | null;
  @orNull(PreviewApproval, 'Whether it would need an approval.') approval!: PreviewApproval | null;
  @ApiProperty({ type: PreviewCaps, description: 'Caps, with what this would leave of them.' }) caps!: PreviewCaps;
  @nullable('string', 'Why the operator has stopped it; null: it is not stopped.') stopped!: string | null;
  @ApiProperty({ type: [PreviewItem], description: 'Its items without faults of their own.' }) items!: PreviewItem[];
  @ApiProperty({
    type: [PreviewDuplicate],
    description: 'Items that pay the same again. That alone refuses nothing.',
  })
  duplicates!: PreviewDuplicate[];
}

import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle';
import { INSTANT, nullable, orNull, text, USD, UUID } from './record-fields';
import { RecordClient, RecordDoubt, RecordPerson, RecordResolution, RecordUpstreamItem } from './resolution.dto';

export { orNull } from './record-fields';
export * from './resolution.dto';

const ANY_JSON = [
  { type: 'object', additionalProperties: true },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
];

export class RecordRecipient {
  @nullable('string', 'Masked without `audit:pii`.') email!: string | null;
  @nullable('string', 'Masked without `audit:pii`.') phone!: string | null;
  @nullable('string', 'Masked without `audit:pii`.') handle!: string | null;
  @nullable('string', "A sub-account's user id.") receiver!: string | null;
}

export class RecordItem {
  @ApiProperty({ type: 'integer', minimum: 0, description: "Place in the body's list, from 0." }) position!: number;
  @ApiProperty({ type: RecordRecipient }) recipient!: RecordRecipient;
  @nullable('string', 'Which of its names says who is paid: `email`, `phone`, `handle` or `receiver`.', {
    example: 'email',
  })
  recipient_field!: string | null;
  @nullable('string', 'What the interface leaves to a rule, and how it was settled.') note!: string | null;
  @nullable('string', 'Decimal text, exact.', USD) amount_usd!: string | null;
  @nullable('string', 'As given.') country!: string | null;
  @nullable('string', 'Mobile money network code.') network_code!: string | null;
  @nullable('string', "The caller's reference.") reference!: string | null;
  @nullable('string', 'Wallet of a transfer.') wallet!: string | null;
  @nullable('string', 'The transaction to delete or to redeem.') upstream_ref!: string | null;
  @orNull(RecordUpstreamItem, 'Its transaction in the answer, where certain.')
  upstream!: RecordUpstreamItem | null;
}

export const PHASES = ['queued', 'connecting', 'waiting', 'answering', 'answered'] as const;

/** One go at sending a request. */
export class RecordTry {
  @text("When it began, by the proxy's clock.", INSTANT) started_at!: string;
  @ApiProperty({ type: 'number', description: 'How long it took, in milliseconds.' }) ms!: number;
  @ApiProperty({
    enum: PHASES,
    description:
      'How far it came. `queued`: it waited for its turn. `connecting`: it had no connection. `waiting`: the upstream may ' +
      'have read it, and answered nothing. `answering`: an answer began and broke off. `answered`: an answer came whole.',
  })
  phase!: (typeof PHASES)[number];
  @nullable('integer', 'HTTP status; null where no answer came whole.') status!: number | null;
  @nullable('string', 'Why there is no usable answer.', { example: 'timeout' }) failure!: string | null;
}

export class RecordUpstream {
  @nullable('integer', 'HTTP status; null where no answer came.') status!: number | null;
  @nullable('string', 'Why there is no usable answer.', { example: 'timeout' }) failure!: string | null;
  @nullable('string', 'The call that fetched this answer, where it was kept: status, times and body are its.', UUID)
  answer_of!: string | null;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'How often it was sent: more than once only what reads.' })
  attempts!: number;
  @ApiProperty({
    type: [RecordTry],
    description: 'How each attempt went. Of a call with `answer_of`, none: that one made them.',
  })
  tries!: RecordTry[];
  @ApiProperty({ type: [RecordUpstreamItem], description: 'Transactions that belong to no item for certain.' })
  other_items!: RecordUpstreamItem[];
}

export class RecordRefusal {
  @ApiProperty({ type: 'integer', description: 'HTTP status of our answer.' }) status!: number;
  @text('Why, for programs.', { example: 'invalid_request' }) code!: string;
  @text('Why, for people.') detail!: string;
  @ApiProperty({ type: [FaultDto], maxItems: 100, description: 'The first hundred faults.' }) errors!: FaultDto[];
  @ApiProperty({ type: 'integer', description: 'How many there were.' }) error_count!: number;
  @nullable('string', 'The call that it repeats.', UUID) first_call_id!: string | null;
}

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired'] as const;

export class RecordApproval {
  @ApiProperty({ enum: ['over_threshold', 'seen_across_clients'], description: 'Why it waits.' }) held_for!: string;
  @nullable('string', "Until when it may be approved, by the database's clock.", INSTANT) expires_at!: Date | null;
  @nullable(
    'string',
    'Salted SHA-256 of the body that would be sent. Say it when you decide, to decide on this and no other.',
    { pattern: '^[0-9a-f]{64}$' },
  )
  content_hash!: string | null;
  @ApiProperty({ enum: APPROVAL_STATUSES, description: 'What was decided.' })
  status!: (typeof APPROVAL_STATUSES)[number];
  @nullable('string', "When it was decided, by the database's clock.", INSTANT) decided_at!: Date | null;
  @orNull(RecordPerson, 'Who decided; null as long as nobody has.') decided_by!: RecordPerson | null;
  @nullable('string', 'Why, in the words of who decided. Masked without `audit:pii`.') reason!: string | null;
}

export class RecordTimings {
  @text("When it came in, by the proxy's clock.", INSTANT) received_at!: Date;
  @text("When it was recorded, by the database's clock.", INSTANT) recorded_at!: Date;
  @nullable('string', 'When it began to be sent.', INSTANT) sent_at!: Date | null;
  @nullable('string', 'When the answer was complete, or given up.', INSTANT) answered_at!: Date | null;
  @nullable('string', "When the outcome was recorded, by the database's clock.", INSTANT)
  outcome_recorded_at!: Date | null;
  @nullable('number', 'From sending to answer, in milliseconds.') upstream_ms!: number | null;
}

/** One call, as lists show it. */
export class CallRecord {
  @text("The call's id, the `X-Call-Id` of its answer.", { format: 'uuid' }) id!: string;
  @text("The operation's name.", { example: 'POST /payouts/airtime' }) operation!: string;
  @ApiProperty({ enum: CALL_STATES, description: `What came of it. ${STATE_HELP}` }) outcome!: CallState;
  @nullable('string', 'Since when it is in doubt; null where it is not.', INSTANT) in_doubt_since!: Date | null;
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @text('The key that was used.', { format: 'uuid' }) key_id!: string;
  @nullable('string', 'For whom the client asked: the person whose key it is, or whom it named in `X-Actor`.')
  actor!: string | null;
  @nullable('string', 'The `Idempotency-Key` it came with, bare.') idempotency_key!: string | null;
  @text("The caller's own id of the request, or ours.") request_id!: string;
  @nullable('string', 'W3C trace context.') traceparent!: string | null;
  @text('Address the request came from.') client_address!: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many items it has.' }) item_count!: number;
  @nullable('string', 'Sum of the items, exact; null where none names an amount.', USD) total_usd!: string | null;
  @nullable(
    'string',
    "Whether the items' countries and networks were looked up in the upstream's lists before it was sent: `checked`, `unchecked` (a list could not be had), or null where there is nothing to look up.",
    { enum: ['checked', 'unchecked'] },
  )
  coverage!: string | null;
  @nullable('string', 'The call for whose sake the proxy asked this by itself.', UUID) caused_by!: string | null;
  @nullable('string', 'The call that it repeats on purpose.', UUID) duplicate_of!: string | null;
  @ApiProperty({ type: [RecordItem], description: 'In a list of calls, the first hundred.' }) items!: RecordItem[];
  @orNull(RecordUpstream, 'What the upstream said; null where no outcome is recorded.')
  upstream!: RecordUpstream | null;
  @orNull(RecordRefusal, 'Why it was not let through; null where it was.') refusal!: RecordRefusal | null;
  @orNull(RecordApproval, 'The approval it waits for, or waited; null where it needed none.')
  approval!: RecordApproval | null;
  @orNull(RecordResolution, 'What was found out about it while it was in doubt, by a person or by the proxy.')
  resolution!: RecordResolution | null;
  @orNull(RecordDoubt, 'Why the proxy cannot find out what became of it; null where it can, or has not tried yet.')
  doubt!: RecordDoubt | null;
  @ApiProperty({ type: RecordTimings }) timings!: RecordTimings;
}

export class RecordMessage {
  @ApiPropertyOptional({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: 'The query string as sent. Only of a request.',
  })
  query?: string | null;
  @ApiProperty({
    anyOf: ANY_JSON,
    description:
      'JSON as such, other text as a string; null where there is none or it was erased. Masked without `audit:pii`.',
  })
  body!: unknown;
}

/** One call with what was sent and answered. */
export class FullCallRecord extends CallRecord {
  @orNull(RecordMessage, 'As sent to the upstream.')
  request!: RecordMessage | null;
  @orNull(RecordMessage, 'As received from the upstream.')
  response!: RecordMessage | null;
}

class ItemUpstream extends OmitType(RecordUpstream, ['other_items'] as const) {}

/** One payout, and what holds for its whole call. */
export class ItemRecord extends OmitType(CallRecord, ['items', 'upstream'] as const) {
  @ApiProperty({ type: RecordItem, description: 'The payout.' }) item!: RecordItem;
  @orNull(ItemUpstream, 'What the upstream said; null where no outcome is recorded.')
  upstream!: ItemUpstream | null;
}

export class ItemPage {
  @ApiProperty({ type: [ItemRecord], description: 'Newest or largest first.' }) items!: ItemRecord[];
  @nullable('string', 'For `page_token`; null on the last page.') next_page_token!: string | null;
}

export class CallPage {
  @ApiProperty({ type: [CallRecord], description: 'Newest or largest first.' }) calls!: CallRecord[];
  @nullable('string', 'For `page_token`; null on the last page.') next_page_token!: string | null;
}

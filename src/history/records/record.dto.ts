import { ApiExtraModels, ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { ACTOR_SOURCES, ActorSource } from '../../access/people/person';
import { FaultDto } from '../../platform/errors/envelope.dto';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle';
import { SCREENED } from '../../journal/records';
import { HELD_FOR } from '../../policy/holds';
import { INSTANT, nullable, orNull, text, USD, UUID } from './record-fields';
import { NEXT_STEPS, NextStep, PAYOUT_STATES, PayoutState } from '../../operations/settlement';
import {
  RecordClient,
  RecordDoubt,
  RecordPerson,
  RecordResolution,
  RecordSettlement,
  RecordUpstreamItem,
} from './resolution.dto';
import { RecordSession, RecordToken } from './token.dto';
import { RecordUpstream } from './upstream-answer.dto';

export { orNull } from './record-fields';
export * from './resolution.dto';
export * from './upstream-answer.dto';

const PAYOUT_STATE_HELP =
  '`held`: it waits for an approval. `reserved`: it is being sent. `in_doubt`: nobody knows yet whether it was paid. ' +
  '`pending`: the upstream has accepted it, or its link waits to be paid. `paid`, `failed`, `reversed` (paid and taken back), ' +
  '`refunded`, and `not_executed` say what became of it, and may still change.';

const NEXT_STEP_HELP =
  '`await_approval` and `wait`: nothing; do not send it again. `none`: it is paid. `send_again`: its amount is back on the cap, and ' +
  'a new request for it with a new `Idempotency-Key` is safe.';

const ANY_JSON = [
  { type: 'object', additionalProperties: true },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
];

export class RecordRecipient {
  @nullable('string', 'Masked without `audit:pii`.') email!: string | null;
  @nullable('string', 'Masked without `audit:pii`.') phone!: string | null;
  @nullable('string', 'Masked without `audit:pii`.') handle!: string | null;
  @nullable('string', 'User ID of a sub-account.') receiver!: string | null;
}

export class RecordItem {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Position in the body, from 0.' }) position!: number;
  @ApiProperty({ type: RecordRecipient }) recipient!: RecordRecipient;
  @nullable('string', 'The field that names the recipient: `email`, `phone`, `handle` or `receiver`.', {
    example: 'email',
  })
  recipient_field!: string | null;
  @nullable('string', 'An ambiguity in the request, and the rule that settled it.') note!: string | null;
  @nullable('string', 'Amount in US dollars, exact.', USD) amount_usd!: string | null;
  @nullable('string', 'Country, as sent.') country!: string | null;
  @nullable('string', 'Mobile money network code.') network_code!: string | null;
  @nullable('string', 'Reference that the caller sent, or the ID that the proxy wrote into the request.') reference!:
    | string
    | null;
  @nullable('string', 'Wallet of a transfer.') wallet!: string | null;
  @nullable('string', 'The transaction to delete or redeem.') upstream_ref!: string | null;
  @orNull(RecordUpstreamItem, 'Its transaction, if that is certain: that of the answer, or a later one.')
  upstream!: RecordUpstreamItem | null;
  @nullable('string', 'ID of the payout, for `GET /v1/payouts/{id}`. Null if the item is no payout.')
  payout_id!: string | null;
  @nullable('string', `What became of the payout. ${PAYOUT_STATE_HELP} Null if the item is no payout.`, {
    enum: [...PAYOUT_STATES],
  })
  state!: PayoutState | null;
  @nullable('string', `What the app may do next. ${NEXT_STEP_HELP} Null if the item is no payout.`, {
    enum: [...new Set(Object.values(NEXT_STEPS))],
  })
  next!: NextStep | null;
  @nullable('string', 'Its fee in US dollars, which counts on caps. Null if unknown, or if the payout came back.', USD)
  fee_usd!: string | null;
  @nullable('string', 'The fee that counts on caps until the real one is known. Null for none.', USD)
  expected_fee_usd!: string | null;
}

class RecordRefusal {
  @ApiProperty({ type: 'integer', description: "HTTP status of the proxy's answer." }) status!: number;
  @text('The error code, for programs.', { example: 'invalid_request' }) code!: string;
  @text('The error text, for people.') detail!: string;
  @ApiProperty({ type: [FaultDto], maxItems: 100, description: 'The errors, at most the first 100.' })
  errors!: FaultDto[];
  @ApiProperty({ type: 'integer', description: 'Number of errors.' }) error_count!: number;
  @nullable('string', 'The call that this request repeats.', UUID) first_call_id!: string | null;
}

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired'] as const;

export class RecordApproval {
  @ApiProperty({ enum: HELD_FOR, description: 'Why the call needs an approval.' }) held_for!: string;
  @nullable(
    'string',
    'The latest earlier call that paid the same amount to the same recipient, for `seen_before`.',
    UUID,
  )
  earlier_call_id!: string | null;
  @nullable('string', 'The transaction that may have paid it already, for `unexplained_payment`.')
  unexplained_transaction!: string | null;
  @nullable('string', "When the approval expires, by the database's clock.", INSTANT) expires_at!: Date | null;
  @nullable(
    'string',
    'Salted SHA-256 of the body that would be sent. Send it with your decision to decide on exactly this body.',
    { pattern: '^[0-9a-f]{64}$' },
  )
  content_hash!: string | null;
  @ApiProperty({ enum: APPROVAL_STATUSES, description: 'Status of the approval.' })
  status!: (typeof APPROVAL_STATUSES)[number];
  @nullable('string', "When it was decided, by the database's clock.", INSTANT) decided_at!: Date | null;
  @orNull(RecordPerson, 'Who decided. Null until then.') decided_by!: RecordPerson | null;
  @nullable('string', 'Verdict of the screening service at the approval. Null if none was asked.', {
    enum: [...SCREENED],
  })
  screening!: string | null;
  @nullable('string', 'The reason given. Masked without `audit:pii`.') reason!: string | null;
}

class RecordTimings {
  @text("When the request arrived, by the proxy's clock.", INSTANT) received_at!: Date;
  @text("When it was recorded, by the database's clock.", INSTANT) recorded_at!: Date;
  @nullable('string', 'When sending began.', INSTANT) sent_at!: Date | null;
  @nullable('string', 'When the answer was complete, or waiting for it ended.', INSTANT) answered_at!: Date | null;
  @nullable('string', "When the outcome was recorded, by the database's clock.", INSTANT)
  outcome_recorded_at!: Date | null;
  @nullable('number', 'From sending to answer, in milliseconds.') upstream_ms!: number | null;
}

/** The fields of a call that lists of calls and of payouts show. */
export class RecordFields {
  @text('ID of the call: the `X-Call-Id` of its answer.', { format: 'uuid' }) id!: string;
  @text('Name of the operation.', { example: 'POST /payouts/airtime' }) operation!: string;
  @ApiProperty({ enum: CALL_STATES, description: `The outcome. ${STATE_HELP}` }) outcome!: CallState;
  @nullable('string', 'When it became in doubt. Null if it is not.', INSTANT) in_doubt_since!: Date | null;
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @text('Account of the client at the upstream.', { example: 'main' }) account!: string;
  @text('The key that was used.', { format: 'uuid' }) key_id!: string;
  @nullable('string', 'The ephemeral key that was used.', { format: 'uuid' }) ephemeral_key_id!: string | null;
  @nullable('string', 'The person behind the request. Null if there is none, or the name was erased.')
  actor!: string | null;
  @nullable(
    'string',
    'How the person is known: an access token, an ephemeral key, a page session, a personal key, or the unverified `X-Actor`.',
    { enum: ACTOR_SOURCES },
  )
  actor_source!: ActorSource | null;
  @nullable('string', 'ID of the person, which stays when the name is erased.', { format: 'uuid' })
  person_id!: string | null;
  @orNull(RecordToken, 'The access token of the request, if any.') token!: RecordToken | null;
  @orNull(RecordSession, 'The page session of the request, if any.') session!: RecordSession | null;
  @nullable('string', '`Idempotency-Key` of the request, without quotes.') idempotency_key!: string | null;
  @text('Request ID that the caller sent, or a generated one.') request_id!: string;
  @nullable('string', 'W3C trace context.') traceparent!: string | null;
  @text('Address of the sender.') client_address!: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of items.' }) item_count!: number;
  @nullable('string', 'Sum of the items, exact. Null if no item names an amount.', USD) total_usd!: string | null;
  @nullable('string', 'Fees of the upstream that are reserved with it. Null if none were expected.', USD)
  expected_fee_usd!: string | null;
  @nullable(
    'string',
    "Whether countries and networks were checked against the upstream's lists before sending. `unchecked`: a list was not available. Null: the operation has none.",
    { enum: ['checked', 'unchecked'] },
  )
  coverage!: string | null;
  @nullable('string', 'Verdict of the screening service. Null if none was asked.', { enum: [...SCREENED] })
  screening!: string | null;
  @nullable('string', 'The call that caused the proxy to make this request.', UUID) caused_by!: string | null;
  @nullable('string', 'The call that it duplicates on purpose.', UUID) duplicate_of!: string | null;
  @ApiProperty({
    type: 'boolean',
    description:
      'Whether the caller hung up before the answer was handed over. The same content is then not paid again for 24 hours, unless `Allow-Duplicate-Of` names this call.',
  })
  undelivered!: boolean;
  @ApiProperty({
    type: 'boolean',
    description: 'Whether `database recover` restored it from a copy. Its body and its recipients are lost.',
  })
  recovered!: boolean;
  @orNull(RecordRefusal, 'Reason for the refusal. Null if the call was admitted.') refusal!: RecordRefusal | null;
  @orNull(RecordApproval, 'The approval, pending or decided. Null if none was needed.')
  approval!: RecordApproval | null;
  @orNull(
    RecordResolution,
    'How the call was settled as a whole, by a person or by the proxy. Null if its answer stands.',
  )
  resolution!: RecordResolution | null;
  @ApiProperty({
    type: [RecordSettlement],
    description: 'What became of the payouts after the answer, newest first. Empty if nothing has changed since.',
  })
  settlements!: RecordSettlement[];
  @orNull(RecordDoubt, 'Why the proxy cannot settle the call. Null if it can, or has not tried yet.')
  doubt!: RecordDoubt | null;
  @ApiProperty({ type: RecordTimings }) timings!: RecordTimings;
}

/** One call, as lists show it. */
@ApiExtraModels(RecordFields)
export class CallRecord extends RecordFields {
  @ApiProperty({ type: [RecordItem], description: 'The items. In a list of calls, the first 100.' })
  items!: RecordItem[];
  @orNull(RecordUpstream, "The upstream's answer. Null if no outcome is recorded.")
  upstream!: RecordUpstream | null;
}

export class RecordMessage {
  @ApiPropertyOptional({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: 'The query string. Present only in requests.',
  })
  query?: string | null;
  @ApiProperty({
    anyOf: ANY_JSON,
    description:
      'JSON, or a string if it is not JSON. Null if there is none or it was erased. Masked without `audit:pii`.',
  })
  body!: unknown;
}

/** One call with its request and its answer. */
export class FullCallRecord extends CallRecord {
  @orNull(RecordMessage, 'The request sent to the upstream.')
  request!: RecordMessage | null;
  @orNull(RecordMessage, 'The answer of the upstream.')
  response!: RecordMessage | null;
}

class ItemUpstream extends OmitType(RecordUpstream, ['other_items'] as const) {}

/** One payout with the fields of its call. */
export class ItemRecord extends RecordFields {
  @ApiProperty({ type: RecordItem, description: 'The payout.' }) item!: RecordItem;
  @orNull(ItemUpstream, "The upstream's answer. Null if no outcome is recorded.")
  upstream!: ItemUpstream | null;
}

export class ItemPage {
  @ApiProperty({ type: [ItemRecord], description: 'Newest or largest first.' }) items!: ItemRecord[];
  @nullable('string', 'For `page_token`. Null on the last page.') next_page_token!: string | null;
}

export class CallPage {
  @ApiProperty({ type: [CallRecord], description: 'Newest or largest first.' }) calls!: CallRecord[];
  @nullable('string', 'For `page_token`. Null on the last page.') next_page_token!: string | null;
}

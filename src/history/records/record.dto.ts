import { ApiExtraModels, ApiProperty, OmitType } from '@nestjs/swagger';
import { SCREENED } from '../../journal/records/records';
import { ShownMembers, SHOWN_MEMBERS } from '../../journal/records/request-members';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle/lifecycle';
import { NEXT_STEPS, NextStep, PAYOUT_STATES, PayoutState } from '../../operations/lifecycle/settlement';
import { FaultDto } from '../../platform/errors/envelope.dto';
import {
  BOOLEAN,
  COUNT,
  described,
  INSTANT,
  INTEGER,
  NUMBER,
  nullable,
  optional,
  orNull,
  SHA256,
  SIGNED_USD,
  TEXT,
  UUID,
  withFields,
} from '../../platform/schema/fields';
import { nextPageToken } from '../../platform/schema/page';
import { HELD_FOR } from '../../policy/limits/holds';
import {
  RecordClient,
  RecordDoubt,
  RecordPerson,
  RecordQueue,
  RecordResolution,
  RecordSettlement,
  RecordUpstreamItem,
  RecordSession,
  RecordToken,
  RecordUpstream,
} from './record-parts.dto';

const PAYOUT_STATE_HELP =
  '`held`: waits for an approval. `queued`: waits for its turn. `reserved`: is being sent. `in_doubt`: may ' +
  'have been paid. `pending`: accepted by the upstream, or the payment link is open. `paid`, `failed`, ' +
  '`reversed` (paid and taken back), `refunded`, and `not_executed` are outcomes. They may still change.';

const NEXT_STEP_HELP =
  '`await_approval` and `wait`: do not send it again. `none`: it is paid. `send_again`: its amount is back ' +
  'on the cap, and a request with a new `Idempotency-Key` is safe.';

const ANY_JSON = [
  { type: 'object', additionalProperties: true },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
];

class RecordRecipient {
  @nullable(TEXT, 'Masked without `audit:pii`.') email!: string | null;
  @nullable(TEXT, 'Masked without `audit:pii`.') phone!: string | null;
  @nullable(TEXT, 'Masked without `audit:pii`.') handle!: string | null;
  @nullable(TEXT, 'User ID of a sub-account.') receiver!: string | null;
}

export class RecordItem {
  @described(COUNT, 'Position in the body, from 0.') position!: number;
  @ApiProperty({ type: RecordRecipient }) recipient!: RecordRecipient;
  @nullable(
    { ...TEXT, example: 'email' },
    'The field that names the recipient: `email`, `phone`, `handle` or `receiver`.',
  )
  recipient_field!: string | null;
  @nullable(TEXT, 'An ambiguity in the request, and the rule that settled it.') note!: string | null;
  @nullable(SIGNED_USD, 'Amount in US dollars, exact.') amount_usd!: string | null;
  @nullable(TEXT, 'Country, as sent.') country!: string | null;
  @nullable(TEXT, 'Mobile money network code.') network_code!: string | null;
  @nullable(TEXT, 'Reference that the caller sent, or the ID that the proxy wrote into the request.')
  reference!: string | null;
  @nullable(TEXT, 'Wallet of a transfer.') wallet!: string | null;
  @nullable(TEXT, 'The transaction to delete or redeem.') upstream_ref!: string | null;
  @nullable(RecordUpstreamItem, 'Its transaction: that of the answer, or a later one. Null if uncertain.')
  upstream!: RecordUpstreamItem | null;
  @nullable(TEXT, 'ID of the payout, for `GET /v1/payouts/{id}`. Null if the item is no payout.')
  payout_id!: string | null;
  @nullable(
    { ...TEXT, enum: [...PAYOUT_STATES] },
    `State of the payout. ${PAYOUT_STATE_HELP} Null if the item is no payout.`,
  )
  state!: PayoutState | null;
  @nullable(
    { ...TEXT, enum: [...new Set(Object.values(NEXT_STEPS))] },
    `Next step of the app. ${NEXT_STEP_HELP} Null if the item is no payout.`,
  )
  next!: NextStep | null;
  @nullable(
    SIGNED_USD,
    'Fee in US dollars, which counts against caps. Null if unknown, or if the payout came back.',
  )
  fee_usd!: string | null;
  @nullable(
    SIGNED_USD,
    'Fee that counts against caps until the real one is known. Null if no fee is expected.',
  )
  expected_fee_usd!: string | null;
}

class RecordRefusal {
  @described(INTEGER, "HTTP status of the proxy's answer.") status!: number;
  @described({ ...TEXT, example: 'invalid_request' }, 'The error code, for programs.') code!: string;
  @described(TEXT, 'The error text, for people.') detail!: string;
  @described({ type: [FaultDto], maxItems: 100 }, 'The errors, at most the first 100.') errors!: FaultDto[];
  @described(INTEGER, 'Number of errors.') error_count!: number;
  @nullable(UUID, 'The call that this request repeats.') first_call_id!: string | null;
}

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired'] as const;

export class RecordApproval {
  @described({ enum: HELD_FOR }, 'Reason for the approval.') held_for!: string;
  @nullable(
    UUID,
    'The latest earlier call that paid the same amount to the same recipient, for `seen_before`.',
  )
  earlier_call_id!: string | null;
  @nullable(TEXT, 'The transaction that may have paid it already, for `unexplained_payment`.')
  unexplained_transaction!: string | null;
  @nullable(INSTANT, "Expiry of the approval, by the database's clock.") expires_at!: Date | null;
  @nullable(
    SHA256,
    'Salted SHA-256 of the body to send. With it, a decision applies only to exactly this body.',
  )
  content_hash!: string | null;
  @described({ enum: APPROVAL_STATUSES }, 'Status of the approval.')
  status!: (typeof APPROVAL_STATUSES)[number];
  @nullable(INSTANT, "Decision time, by the database's clock.") decided_at!: Date | null;
  @nullable(RecordPerson, 'The decider. Null before the decision.') decided_by!: RecordPerson | null;
  @nullable(
    { ...TEXT, enum: [...SCREENED] },
    'Verdict of the screening service at the approval. Null without screening.',
  )
  screening!: string | null;
  @nullable(TEXT, 'The reason given. Masked without `audit:pii`.') reason!: string | null;
}

class RecordTimings {
  @described(INSTANT, "Arrival of the request, by the proxy's clock.") received_at!: Date;
  @described(INSTANT, "Recording time, by the database's clock.") recorded_at!: Date;
  @nullable(INSTANT, 'Time when sending began.') sent_at!: Date | null;
  @nullable(INSTANT, 'Time when the answer was complete, or the wait for it ended.')
  answered_at!: Date | null;
  @nullable(INSTANT, "Time of the outcome, by the database's clock.")
  outcome_recorded_at!: Date | null;
  @nullable(NUMBER, 'From sending to answer, in milliseconds.') upstream_ms!: number | null;
}

/** Fields of a call other than the recorded members of its request. */
class OwnFields {
  @described(UUID, 'ID of the call: the `X-Call-Id` of its answer.') id!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described({ enum: CALL_STATES }, `The outcome. ${STATE_HELP}`) outcome!: CallState;
  @nullable(INSTANT, 'Start of the doubt. Null if the call is not in doubt.') in_doubt_since!: Date | null;
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @described({ ...TEXT, example: 'main' }, 'Account of the client at the upstream.') account!: string;
  @nullable(TEXT, 'Person who requested it. Null if unknown or erased.') actor!: string | null;
  @nullable(RecordToken, 'The access token of the request, if any.') token!: RecordToken | null;
  @nullable(RecordSession, 'The page session of the request, if any.') session!: RecordSession | null;
  @nullable(TEXT, '`Idempotency-Key` of the request, without quotes.') idempotency_key!: string | null;
  @described(COUNT, 'Number of items.') item_count!: number;
  @described(
    BOOLEAN,
    'Whether the caller disconnected before the answer. The same content is then not paid again for 24 ' +
      'hours, unless `Allow-Duplicate-Of` names this call.',
  )
  undelivered!: boolean;
  @described(
    BOOLEAN,
    'Whether `database recover` restored it from a copy. Its body and its recipients are lost.',
  )
  recovered!: boolean;
  @nullable(RecordRefusal, 'Reason for the refusal. Null if the call was admitted.')
  refusal!: RecordRefusal | null;
  @nullable(RecordApproval, 'The approval, pending or decided. Null if the call needed no approval.')
  approval!: RecordApproval | null;
  @nullable(RecordQueue, 'Its turn. Null unless it was requested with `Prefer: respond-async`.')
  queue!: RecordQueue | null;
  @nullable(
    RecordResolution,
    'Settlement of the call as a whole, by a person or by the proxy. Null if its answer is in effect.',
  )
  resolution!: RecordResolution | null;
  @described({ type: [RecordSettlement] }, 'Settlements of the payouts after the answer, newest first.')
  settlements!: RecordSettlement[];
  @nullable(
    RecordDoubt,
    'Reason why the proxy cannot settle the call. Null if it can, or before its attempt.',
  )
  doubt!: RecordDoubt | null;
  @ApiProperty({ type: RecordTimings }) timings!: RecordTimings;
}

const SCHEMAS: Record<string, object> = { uuid: UUID, numeric: SIGNED_USD, text: TEXT };

/** Members of a request that the API passes through, with the decorators that describe them. */
const MEMBER_FIELDS = SHOWN_MEMBERS.map(
  ({ name, intent, refusal, values = refusal ?? intent, always, text = '' }) => {
    const schema =
      typeof values === 'object' ? { ...TEXT, enum: [...values] } : (SCHEMAS[values ?? 'text'] ?? TEXT);
    return [name, (always ? described : nullable)(schema, text)] as const;
  },
);

/** Fields of a call in lists of calls and of payouts. */
class RecordFields extends withFields<OwnFields, ShownMembers>(OwnFields, MEMBER_FIELDS) {}

/** A call in lists. */
@ApiExtraModels(RecordFields)
export class CallRecord extends RecordFields {
  @described({ type: [RecordItem] }, 'The items. In a list of calls, the first 100.') items!: RecordItem[];
  @nullable(RecordUpstream, "The upstream's answer. Null if no outcome is recorded.")
  upstream!: RecordUpstream | null;
}

export class RecordMessage {
  @optional(orNull(TEXT), 'The query string. Present only in requests.') query?: string | null;
  @described(
    { anyOf: ANY_JSON },
    'JSON, or a string if it is not JSON. Null if empty or erased. Masked without `audit:pii`.',
  )
  body!: unknown;
}

/** A call with its request and its answer. */
export class FullCallRecord extends CallRecord {
  @nullable(RecordMessage, 'The request sent to the upstream.') request!: RecordMessage | null;
  @nullable(RecordMessage, 'The answer of the upstream.') response!: RecordMessage | null;
}

class ItemUpstream extends OmitType(RecordUpstream, ['other_items'] as const) {}

/** A payout with the fields of its call. */
export class ItemRecord extends RecordFields {
  @described({ type: RecordItem }, 'The payout.') item!: RecordItem;
  @nullable(ItemUpstream, "The upstream's answer. Null if no outcome is recorded.")
  upstream!: ItemUpstream | null;
}

export class ItemPage {
  @described({ type: [ItemRecord] }, 'Newest or largest first.') items!: ItemRecord[];
  @nextPageToken() next_page_token!: string | null;
}

export class CallPage {
  @described({ type: [CallRecord] }, 'Newest or largest first.') calls!: CallRecord[];
  @nextPageToken() next_page_token!: string | null;
}

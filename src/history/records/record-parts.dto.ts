import { ApiProperty, OmitType } from '@nestjs/swagger';
import { SCREENED } from '../../journal/records/records';
import { Difference, DIFFERENCES } from '../../operations/items/item';
import { Resolution, RESOLUTIONS } from '../../operations/lifecycle/lifecycle';
import {
  ACCOUNTS,
  ENTRIES,
  PAYOUT_STATES,
  PayoutState,
  Source,
  SOURCES,
} from '../../operations/lifecycle/settlement';
import {
  COUNT,
  described,
  INSTANT,
  INTEGER,
  nullable,
  SIGNED_USD,
  TEXT,
  UUID,
  NUMBER,
} from '../../platform/schema/fields';

export class RecordClient {
  @described(UUID, 'ID of the client.') id!: string;
  @nullable(TEXT, 'Name of the client.') name!: string | null;
}

export class RecordUpstreamItem {
  @nullable(TEXT, "The upstream's reference of the transaction.") upstream_ref!: string | null;
  @nullable(TEXT, "The upstream's ID of the transaction.") upstream_id!: string | null;
  @nullable(TEXT, "The upstream's ID of the batch.") batch_ref!: string | null;
  @nullable(TEXT, 'Status that the upstream reports.') status!: string | null;
  @nullable(SIGNED_USD, 'Amount that the upstream reports, in US dollars.') amount_usd!: string | null;
  @nullable(TEXT, 'State of the handover to the telco in the answer, such as `Sent`.')
  payout_status!: string | null;
  @nullable(TEXT, 'Error of the payout in the answer. Contacts and long numbers are masked.')
  payout_error!: string | null;
  @described(
    { enum: DIFFERENCES, isArray: true },
    'Properties in the answer that differ from the item, or that it does not state. Without an item, those ' +
      'that contradict the items.',
  )
  differs!: Difference[];
}

/** The turn of a queued call. */
export class RecordQueue {
  @described(INSTANT, "Time from which it is not sent any more, by the database's clock.") expires_at!: Date;
  @nullable(INSTANT, 'Time of its turn, when it was released to be sent. Null before.')
  released_at!: Date | null;
  @nullable(
    { ...TEXT, enum: [...SCREENED] },
    'Verdict of the screening service in its turn. Null without screening.',
  )
  screening!: string | null;
}

/** Author of a decision or settlement. */
export class RecordPerson {
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @described(UUID, 'The key that was used.') key_id!: string;
  @nullable(TEXT, 'The person, if known. Masked without `audit:pii`.') actor!: string | null;
}

/** A transaction that the upstream listed when the proxy looked for the outcome of a call. */
export class FoundTransaction extends OmitType(RecordUpstreamItem, [
  'payout_status',
  'payout_error',
  'differs',
] as const) {
  @nullable(INTEGER, 'Position of its item in the body, from 0. Null if that is not certain.') position!:
    | number
    | null;
  @nullable(INSTANT, "Creation time, by the upstream's clock.") at!: string | null;
}

/** A payout of a settled call, in the response to a repeated request. */
export class FoundPayout extends FoundTransaction {
  @described({ enum: PAYOUT_STATES }, 'State of the payout.') state!: PayoutState;
}

/** Resolution of a call as a whole. */
export class RecordResolution {
  @described(UUID, 'ID of the settlement. Send it as `supersedes` to correct it.') id!: string;
  @described(
    { enum: RESOLUTIONS },
    '`confirmed`: the call was carried out. `not_executed`: it was not carried out, and never will be.',
  )
  outcome!: Resolution;
  @described(TEXT, 'The evidence. Masked without `audit:pii`.') reason!: string;
  @described(INSTANT, "Settlement time, by the database's clock.") resolved_at!: Date;
  @nullable(RecordPerson, "The person who settled it. Null if the proxy did, from the upstream's list.")
  resolved_by!: RecordPerson | null;
  @described(
    { type: [FoundTransaction] },
    "The upstream's transactions of the call. Empty if a person settled it without one.",
  )
  transactions!: FoundTransaction[];
}

/** One movement of a payout's amount from one account to another. */
export class RecordEntry {
  @described(COUNT, 'Position of the item, from 0.') position!: number;
  @described({ enum: [...Object.keys(ENTRIES), 'fee'] }, 'Kind of entry.') entry!: string;
  @described({ enum: ACCOUNTS }, 'The account that the amount leaves.') from!: string;
  @described({ enum: ACCOUNTS }, 'The account that the amount enters.') to!: string;
  @nullable(SIGNED_USD, 'Amount in US dollars, exact.') amount_usd!: string | null;
  @nullable(TEXT, 'Status that the upstream reports.') status!: string | null;
  @described({ enum: SOURCES }, 'Source of the entry.') source!: Source;
  @described(INSTANT, "Recording time, by the database's clock.") at!: Date;
}

/** New states of payouts after the request and the answer. A later settlement supersedes an earlier one. */
export class RecordSettlement {
  @described(UUID, 'ID of the settlement. Send the newest one as `supersedes` to correct it.') id!: string;
  @described({ enum: SOURCES }, 'Source of the settlement.') source!: Source;
  @nullable(
    { ...TEXT, enum: [...RESOLUTIONS] },
    'Outcome of the call as a whole. Null if the answer is in effect, or if a payout is in doubt.',
  )
  outcome!: Resolution | null;
  @described(TEXT, 'The evidence. Masked without `audit:pii`.') reason!: string;
  @described(SIGNED_USD, 'Amount of the call that counts against its caps from then on.')
  counted_usd!: string;
  @described(INSTANT, "Recording time, by the database's clock.") recorded_at!: Date;
  @nullable(RecordPerson, 'The person who settled it. Null if the proxy did.')
  recorded_by!: RecordPerson | null;
  @described({ type: [RecordEntry] }, 'Entries of the settled payouts.') entries!: RecordEntry[];
}

/** Reason why the proxy cannot settle a call in doubt. */
export class RecordDoubt {
  @described({ enum: ['ambiguous'] }, 'A person must settle the call, unless the proxy finds more evidence.')
  verdict!: 'ambiguous';
  @described(TEXT, 'Reason why the proxy cannot settle it.') reason!: string;
  @described(INSTANT, "Time of the proxy's decision, by the database's clock.") decided_at!: Date;
  @described({ type: [FoundTransaction] }, 'Transactions that may belong to the call, at most 100.')
  transactions!: FoundTransaction[];
  @described(
    { type: [String] },
    'Other possible calls of these transactions. Only auditors who read one call see them.',
  )
  calls!: string[];
}

const PHASES = ['queued', 'connecting', 'waiting', 'answering', 'answered'] as const;

/** One attempt to send a request. */
export class RecordTry {
  @described(INSTANT, "Start, by the proxy's clock.") started_at!: string;
  @described(NUMBER, 'Duration in milliseconds.') ms!: number;
  @described(
    { enum: PHASES },
    'Last phase. `queued`: it waited for its turn. `connecting`: it had no connection. `waiting`: the ' +
      'upstream may have read it, but did not answer. `answering`: the answer was interrupted. `answered`: ' +
      'the answer is complete.',
  )
  phase!: (typeof PHASES)[number];
  @nullable(INTEGER, 'HTTP status. Null without a complete answer.') status!: number | null;
  @nullable({ ...TEXT, example: 'timeout' }, 'Reason for the lack of a usable answer.') failure!:
    | string
    | null;
}

export class RecordUpstream {
  @nullable(INTEGER, 'HTTP status. Null without an answer.') status!: number | null;
  @nullable({ ...TEXT, example: 'timeout' }, 'Reason for the lack of a usable answer.') failure!:
    | string
    | null;
  @nullable(UUID, 'The call whose cached answer was used. Status, times, and body are from that call.')
  answer_of!: string | null;
  @described({ type: 'integer', minimum: 1 }, 'Number of attempts. Only reads are sent more than once.')
  attempts!: number;
  @described({ type: [RecordTry] }, 'Each attempt. Empty for a call with `answer_of`.') tries!: RecordTry[];
  @described(
    { type: [RecordUpstreamItem] },
    'Transactions that could not be assigned to an item with certainty.',
  )
  other_items!: RecordUpstreamItem[];
}

class RecordActingPerson {
  @described(UUID, 'ID of the person.') person_id!: string;
}

/** The page session of a request. */
export class RecordSession {
  @described(UUID, 'ID of the session.') id!: string;
  @nullable(INSTANT, 'When the person signed in (`auth_time`). Null if unknown.') auth_time!: string | null;
}

/** Access token of a request. It grants no access. */
export class RecordToken {
  @nullable(TEXT, "The identity provider's ID of the token (`jti`).") jti!: string | null;
  @nullable(TEXT, "Thumbprint of the app's key that it is bound to (`cnf.jkt`). Null for bearer tokens.")
  jkt!: string | null;
  @nullable(INSTANT, 'When the person signed in (`auth_time`). Null if unknown.') auth_time!: string | null;
  @nullable(RecordActingPerson, 'Person who acted for the requester (`act`), such as support staff.')
  act!: RecordActingPerson | null;
}

import { ApiProperty } from '@nestjs/swagger';
import { INSTANT, nullable, orNull, text, USD, UUID } from './record-fields';
import { Resolution, RESOLUTIONS } from '../../operations/lifecycle';

export class RecordClient {
  @text('ID of the client.', { format: 'uuid' }) id!: string;
  @nullable('string', 'Name of the client.') name!: string | null;
}

export class RecordUpstreamItem {
  @nullable('string', "The upstream's reference of the transaction.") upstream_ref!: string | null;
  @nullable('string', "The upstream's ID of the transaction.") upstream_id!: string | null;
  @nullable('string', "The upstream's ID of the batch.") batch_ref!: string | null;
  @nullable('string', 'Status that the upstream reports.') status!: string | null;
  @nullable('string', 'Amount that the upstream reports, in US dollars.', USD) amount_usd!: string | null;
}

/** Who decided or settled something. */
export class RecordPerson {
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @text('The key that was used.', UUID) key_id!: string;
  @nullable('string', 'The person, if known. Masked without `audit:pii`.') actor!: string | null;
}

/** A transaction that the upstream listed when the proxy looked for the outcome of a call. */
export class FoundTransaction extends RecordUpstreamItem {
  @nullable('integer', 'Position of its item in the body, from 0. Null if that is not certain.')
  position!: number | null;
  @nullable('string', "When it was created, by the upstream's clock.", INSTANT) at!: string | null;
}

/** A resolution that was corrected. */
export class SupersededResolution {
  @text('ID of the resolution. Send it as `supersedes` to correct it.', { format: 'uuid' }) id!: string;
  @ApiProperty({
    enum: RESOLUTIONS,
    description: '`confirmed`: the call was carried out. `not_executed`: it was not, and never will be.',
  })
  outcome!: Resolution;
  @text('The evidence. Masked without `audit:pii`.') reason!: string;
  @text("When it was settled, by the database's clock.", INSTANT) resolved_at!: Date;
  @orNull(RecordPerson, 'Who settled it. Null: the proxy, from what the upstream lists.')
  resolved_by!: RecordPerson | null;
}

/** The resolution that is in effect. */
export class RecordResolution extends SupersededResolution {
  @ApiProperty({
    type: [FoundTransaction],
    description: "The upstream's transactions of the call. Empty if a person settled it.",
  })
  transactions!: FoundTransaction[];
  @ApiProperty({
    type: [SupersededResolution],
    description: 'Earlier resolutions that were corrected, newest first.',
  })
  superseded!: SupersededResolution[];
}

/** Why the proxy cannot settle a call that is in doubt. */
export class RecordDoubt {
  @ApiProperty({ enum: ['ambiguous'], description: 'A person must settle the call, unless the proxy finds out more.' })
  verdict!: 'ambiguous';
  @text('Why the proxy cannot settle it.') reason!: string;
  @text("When the proxy decided this, by the database's clock.", INSTANT) decided_at!: Date;
  @ApiProperty({ type: [FoundTransaction], description: 'Transactions that may belong to the call, at most 100.' })
  transactions!: FoundTransaction[];
  @ApiProperty({
    type: [String],
    description: 'Other calls that may have made them. Present only when an auditor reads one call.',
  })
  calls!: string[];
}

import { ApiProperty } from '@nestjs/swagger';
import { INSTANT, nullable, orNull, text, USD, UUID } from './record-fields';
import { Resolution, RESOLUTIONS } from '../../operations/lifecycle';

export class RecordClient {
  @text("The client's id.", { format: 'uuid' }) id!: string;
  @nullable('string', 'Its name.') name!: string | null;
}

export class RecordUpstreamItem {
  @nullable('string', 'The reference the upstream gave to this item.') upstream_ref!: string | null;
  @nullable('string', "The upstream's id of the transaction.") upstream_id!: string | null;
  @nullable('string', "The upstream's id of the batch.") batch_ref!: string | null;
  @nullable('string', "The upstream's own word.") status!: string | null;
  @nullable('string', 'What the upstream says was paid, in US dollars.', USD) amount_usd!: string | null;
}

/** Who decided or settled something. */
export class RecordPerson {
  @ApiProperty({ type: RecordClient }) client!: RecordClient;
  @text('The key that was used.', UUID) key_id!: string;
  @nullable('string', 'The person, as far as it is known. Masked without `audit:pii`.') actor!: string | null;
}

/** A transaction that the upstream listed when it was asked what became of a call. */
export class FoundTransaction extends RecordUpstreamItem {
  @nullable('integer', 'Place of its item in the body, from 0; null where that is not certain.')
  position!: number | null;
  @nullable('string', "When it was made, by the upstream's clock.", INSTANT) at!: string | null;
}

/** How a call was settled before that was corrected. */
export class SupersededResolution {
  @text('Its id. A correction of it names it in `supersedes`.', { format: 'uuid' }) id!: string;
  @ApiProperty({
    enum: RESOLUTIONS,
    description: '`confirmed`: it was carried out. `not_executed`: it was not, and never will be.',
  })
  outcome!: Resolution;
  @text('How that is known. Masked without `audit:pii`.') reason!: string;
  @text("When it was settled, by the database's clock.", INSTANT) resolved_at!: Date;
  @orNull(RecordPerson, 'Who settled it; null: the proxy itself, by what the upstream lists.')
  resolved_by!: RecordPerson | null;
}

/** How a call was settled, as it holds now. */
export class RecordResolution extends SupersededResolution {
  @ApiProperty({
    type: [FoundTransaction],
    description: "The upstream's transactions that it turned out to be; none where a person settled it.",
  })
  transactions!: FoundTransaction[];
  @ApiProperty({
    type: [SupersededResolution],
    description: 'How it was settled before it was corrected, newest first.',
  })
  superseded!: SupersededResolution[];
}

/** What the proxy found out by itself about a call that is still in doubt. */
export class RecordDoubt {
  @ApiProperty({ enum: ['ambiguous'], description: 'A person has to settle it, unless the proxy finds out more.' })
  verdict!: 'ambiguous';
  @text('Why it cannot be told.') reason!: string;
  @text("When that was found, by the database's clock.", INSTANT) decided_at!: Date;
  @ApiProperty({ type: [FoundTransaction], description: 'The first hundred transactions that may have to do with it.' })
  transactions!: FoundTransaction[];
  @ApiProperty({
    type: [String],
    description: 'Other calls that could have made them; named where an auditor reads this one call.',
  })
  calls!: string[];
}

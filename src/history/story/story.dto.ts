import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { AccessEndRecord, AccessRecord } from '../access-log/accesses.dto';
import { RecordAnomaly, ANOMALY_CODES } from '../records/record-anomalies';
import { FullCallRecord } from '../records/record.dto';

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });

/** Something in a call's own records that does not fit together, or is there no more. */
export class RecordAnomalyDto implements RecordAnomaly {
  @ApiProperty({ enum: ANOMALY_CODES, description: 'What, for programs.' }) code!: RecordAnomaly['code'];
  @ApiProperty({ type: 'string', description: 'What, for people.' }) detail!: string;
  @nullable('integer', 'The item it is about; null: the call.') position!: number | null;
}

const SEALED_KINDS = [
  ...(['intent', 'refusal', 'decision', 'outcome', 'resolution', 'reservation_release', 'verdict'] as const),
  ...(['resolution_correction', 'correction_release'] as const),
];

/** Where one of its records stands in the log. */
export class RecordSeal {
  @ApiProperty({ enum: SEALED_KINDS, description: "The record's kind." }) kind!: (typeof SEALED_KINDS)[number];
  @nullable('integer', 'Place in the log, from 0; null: not sealed yet, which takes seconds.') index!: number | null;
  @nullable('string', 'Hash of the leaf (RFC 6962): SHA-256 of a zero byte and the record as canonical JSON.', {
    pattern: '^[0-9a-f]{64}$',
  })
  leaf_hash!: string | null;
  @nullable('integer', 'Size of the log at the first checkpoint that covers it.') checkpoint_size!: number | null;
  @nullable('string', 'When that checkpoint was signed.', { format: 'date-time' }) sealed_at!: Date | null;
}

export class CallReaders {
  @ApiProperty({ type: 'integer', description: 'How often it was shown, alone or on a page. Exports are not counted.' })
  count!: number;
  @ApiProperty({ type: [AccessRecord], description: 'The newest hundred.' }) newest!: AccessRecord[];
}

/** A difference from the upstream's history, in the payments of a call. */
export class CallDifference {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'Its id: `GET /v1/reconciliation/findings/{id}`.' })
  id!: string;
  @ApiProperty({ allOf: [{ $ref: '#/components/schemas/FindingCategory' }], description: 'What kind.' })
  category!: string;
  @nullable('integer', "The payment's place in the call, from 0.") position!: number | null;
  @ApiProperty({ allOf: [{ $ref: '#/components/schemas/FindingState' }], description: 'What was decided last.' })
  state!: string;
  @ApiProperty({ type: 'string', description: "What it adds to the upstream's total less ours, in US dollars." })
  impact_usd!: string;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was found.' }) found_at!: Date;
}

/** One call, with all that is on record about it. */
@ApiExtraModels(AccessEndRecord)
export class CallStory extends FullCallRecord {
  @ApiProperty({ type: [RecordAnomalyDto], description: 'What does not fit together; none: everything does.' })
  anomalies!: RecordAnomalyDto[];
  @ApiProperty({ type: [CallDifference], description: 'What reconciliation found: the newest hundred.' })
  reconciliation_findings!: CallDifference[];
  @ApiProperty({ type: [RecordSeal], description: 'Where its records stand in the log.' }) seals!: RecordSeal[];
  @ApiProperty({ type: CallReaders, description: 'Who looked at it before.' }) accesses!: CallReaders;
}

import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { AccessEndRecord, AccessRecord } from '../access-log/accesses.dto';
import { ActivityRecord } from '../access-log/activity.dto';
import { RecordAnomaly, ANOMALY_CODES } from '../records/record-anomalies';
import { FullCallRecord, RecordEntry } from '../records/record.dto';

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });

/** A contradiction in a call's own records, or a record that is missing. */
class RecordAnomalyDto implements RecordAnomaly {
  @ApiProperty({ enum: ANOMALY_CODES, description: 'The code, for programs.' }) code!: RecordAnomaly['code'];
  @ApiProperty({ type: 'string', description: 'The text, for people.' }) detail!: string;
  @nullable('integer', 'Position of the item. Null: the whole call.') position!: number | null;
}

const SEALED_KINDS = [...(['intent', 'refusal', 'decision', 'outcome', 'verdict', 'settlement'] as const)];

/** The place of a record in the log. */
export class RecordSeal {
  @ApiProperty({ enum: SEALED_KINDS, description: 'Kind of record.' }) kind!: (typeof SEALED_KINDS)[number];
  @nullable('integer', 'Index in the log, from 0. Null: not sealed yet. Sealing takes seconds.') index!: number | null;
  @nullable('string', 'Leaf hash (RFC 6962): SHA-256 of a zero byte and the record as canonical JSON.', {
    pattern: '^[0-9a-f]{64}$',
  })
  leaf_hash!: string | null;
  @nullable('integer', 'Log size at the first checkpoint that covers it.') checkpoint_size!: number | null;
  @nullable('string', 'When that checkpoint was signed.', { format: 'date-time' }) sealed_at!: Date | null;
}

export class CallReaders {
  @ApiProperty({
    type: 'integer',
    description: 'How often the call was shown, alone or on a page. Exports are not counted.',
  })
  count!: number;
  @ApiProperty({ type: [AccessRecord], description: 'The newest 100.' }) newest!: AccessRecord[];
}

/** A finding of reconciliation about a payment of a call. */
export class CallDifference {
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    description: 'ID of the finding: `GET /v1/reconciliation/findings/{id}`.',
  })
  id!: string;
  @ApiProperty({ allOf: [{ $ref: '#/components/schemas/FindingCategory' }], description: 'Category of the finding.' })
  category!: string;
  @nullable('integer', 'Position of the payment in the call, from 0.') position!: number | null;
  @ApiProperty({ allOf: [{ $ref: '#/components/schemas/FindingState' }], description: 'State of the finding.' })
  state!: string;
  @ApiProperty({ type: 'string', description: "Its part of the upstream's total minus ours, in US dollars." })
  impact_usd!: string;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was found.' }) found_at!: Date;
}

/** One call with everything that is on record about it. */
@ApiExtraModels(AccessEndRecord)
export class CallStory extends FullCallRecord {
  @ApiProperty({ type: [RecordAnomalyDto], description: 'Contradictions in the records. Empty if there are none.' })
  anomalies!: RecordAnomalyDto[];
  @ApiProperty({
    type: [RecordEntry],
    description:
      'The ledger of each payout, in the order of the items, and oldest entry first. It begins with the reservation and what the answer says. Empty if nothing was reserved.',
  })
  ledger!: RecordEntry[];
  @ApiProperty({ type: [CallDifference], description: 'Findings of reconciliation, the newest 100.' })
  reconciliation_findings!: CallDifference[];
  @ApiProperty({
    type: [ActivityRecord],
    description:
      'Acts in the day before it: on its client, stops, and changes of the configuration. Newest first, at most 20.',
  })
  acts_before!: ActivityRecord[];
  @ApiProperty({ type: [RecordSeal], description: 'Places of its records in the log.' }) seals!: RecordSeal[];
  @ApiProperty({ type: CallReaders, description: 'Earlier reads of the call.' }) accesses!: CallReaders;
}

import { ApiExtraModels } from '@nestjs/swagger';
import { described, INSTANT, INTEGER, nullable, ref, SHA256, TEXT, UUID } from '../../platform/schema/fields';
import { AccessEndRecord, AccessRecord, ActivityRecord } from '../access-log/access-log.dto';
import { RecordAnomaly, ANOMALY_CODES } from '../records/record-anomalies';
import { RecordEntry } from '../records/record-parts.dto';
import { FullCallRecord } from '../records/record.dto';

/** A contradiction in a call's own records, or a record that is missing. */
class RecordAnomalyDto implements RecordAnomaly {
  @described({ enum: ANOMALY_CODES }, 'The code, for programs.') code!: RecordAnomaly['code'];
  @described(TEXT, 'The text, for people.') detail!: string;
  @nullable(INTEGER, 'Position of the item. Null for the whole call.') position!: number | null;
}

const SEALED_KINDS = ['intent', 'refusal', 'decision', 'outcome', 'verdict', 'settlement'] as const;

/** Position of a record in the log. */
export class RecordSeal {
  @described({ enum: [...SEALED_KINDS] }, 'Kind of record.') kind!: (typeof SEALED_KINDS)[number];
  @nullable(INTEGER, 'Index in the log, from 0. Null for the seconds before sealing.') index!: number | null;
  @nullable(SHA256, 'Leaf hash (RFC 6962): SHA-256 of a zero byte and the record as canonical JSON.')
  leaf_hash!: string | null;
  @nullable(INTEGER, 'Log size at the first checkpoint that covers it.') checkpoint_size!: number | null;
  @nullable(INSTANT, 'Signing time of that checkpoint.') sealed_at!: Date | null;
}

export class CallReaders {
  @described(INTEGER, 'Number of reads, alone or on a page. Exports are not counted.') count!: number;
  @described({ type: [AccessRecord] }, 'The newest 100.') newest!: AccessRecord[];
}

/** A finding of reconciliation about a payment of a call. */
export class CallDifference {
  @described(UUID, 'ID of the finding: `GET /v1/reconciliation/findings/{id}`.') id!: string;
  @described({ allOf: [ref('FindingCategory')] }, 'Category of the finding.') category!: string;
  @nullable(INTEGER, 'Position of the payment in the call, from 0.') position!: number | null;
  @described({ allOf: [ref('FindingState')] }, 'State of the finding.') state!: string;
  @described(TEXT, "Its share of the upstream's total minus ours, in US dollars.") impact_usd!: string;
  @described(INSTANT, 'Time of discovery.') found_at!: Date;
}

/** A call with all its records. */
@ApiExtraModels(AccessEndRecord)
export class CallTimeline extends FullCallRecord {
  @described({ type: [RecordAnomalyDto] }, 'Contradictions in the records. Empty if there are none.')
  anomalies!: RecordAnomalyDto[];
  @described(
    { type: [RecordEntry] },
    'Ledgers of the payouts, in the order of the items, oldest entry first. A ledger begins with the ' +
      'reservation and the answer. Empty if nothing was reserved.',
  )
  ledger!: RecordEntry[];
  @described({ type: [CallDifference] }, 'Findings of reconciliation, the newest 100.')
  reconciliation_findings!: CallDifference[];
  @described(
    { type: [ActivityRecord] },
    'Acts of the day before the call: changes of its client, stops, and changes of the configuration. The ' +
      'newest 20.',
  )
  acts_before!: ActivityRecord[];
  @described({ type: [RecordSeal] }, 'Positions of its records in the log.') seals!: RecordSeal[];
  @described({ type: CallReaders }, 'Earlier reads of the call.') accesses!: CallReaders;
}

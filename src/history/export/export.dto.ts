import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../../http/validation/rules/query-rules';
import { field } from '../../http/validation/rules/rules';
import {
  BOOLEAN,
  COUNT,
  described,
  INSTANT,
  nullable,
  SHA256,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { ResultKind, SearchFilters } from '../search/search.dto';

const LISTED: readonly ResultKind[] = ['calls', 'items'];

const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

export class ExportSearch extends SearchFilters {
  @OneOf(FORMATS, '`csv` (RFC 4180) or `ndjson` (one JSON object per line).', { required: true })
  format!: Format;

  @field(
    {
      required: false,
      must: `must be one of ${LISTED.join(', ')}`,
      test: (value) => LISTED.some((what) => what === value),
    },
    { enum: [...LISTED], default: 'calls', description: 'Content of the rows: calls or payouts.' },
  )
  what?: ResultKind;
}

/** The log's latest checkpoint when the export ended. */
class ManifestCheckpointRecord {
  @described(COUNT, 'Number of records in the log.') size!: number;
  @described(TEXT, 'The checkpoint, as a C2SP signed note.') note!: string;
  @described(BOOLEAN, 'Whether it covers every record that existed when the export began.')
  covers_beginning!: boolean;
}

/** Manifest of an export, which shows whether the file is complete and unchanged. */
export class ManifestRecord {
  @ApiProperty({ enum: [...FORMATS] }) format!: Format;
  @described({ enum: ['calls', 'items'] }, 'Content of the rows.') what!: ResultKind;
  @described(
    { type: 'object', additionalProperties: { type: 'string' } },
    'The filters of the export. Contacts are masked without `audit:pii`.',
  )
  filters!: Record<string, string>;
  @described(COUNT, 'Number of rows, without the header row of a CSV file.') rows!: number;
  @described(SHA256, 'SHA-256 of the file.') sha256!: string;
  @nullable(
    ManifestCheckpointRecord,
    'The latest checkpoint when the export ended. Null if nothing was sealed yet.',
  )
  checkpoint!: ManifestCheckpointRecord | null;
  @described(INSTANT, 'Time of the last row.') exported_at!: string;
  @described(UUID, 'The access record of the export.') access_id!: string;
}

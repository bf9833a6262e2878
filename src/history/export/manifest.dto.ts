import { ApiProperty } from '@nestjs/swagger';
import { orNull } from '../records/record.dto';
import { Listed } from '../search/cursor';
import { Format, FORMATS } from './export.dto';

class ManifestCheckpointRecord {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of records in the log.' }) size!: number;
  @ApiProperty({ type: 'string', description: 'The checkpoint, as a C2SP signed note.' }) note!: string;
  @ApiProperty({ type: 'boolean', description: 'Whether it covers every record that existed when the export began.' })
  covers_beginning!: boolean;
}

export class ManifestRecord {
  @ApiProperty({ enum: [...FORMATS] }) format!: Format;
  @ApiProperty({ enum: ['calls', 'items'], description: 'What each row is.' }) what!: Listed;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The filters of the export. Contacts are masked without `audit:pii`.',
  })
  filters!: Record<string, string>;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of rows, without the header row of a CSV file.' })
  rows!: number;
  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file.' })
  sha256!: string;
  @orNull(ManifestCheckpointRecord, 'The latest checkpoint when the export ended. Null if nothing was sealed yet.')
  checkpoint!: ManifestCheckpointRecord | null;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'When the last row was written.' })
  exported_at!: string;
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The access record of the export.' }) access_id!: string;
}

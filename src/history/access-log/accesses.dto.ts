import { ApiProperty } from '@nestjs/swagger';
import { Instant, PageSize, PageToken, Uuid } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../records/page';
import { RecordClient } from '../records/record.dto';

export class AccessSearch implements PageRequest {
  @Instant('Read at this instant or later.')
  from?: string;

  @Instant('Read before this instant.')
  to?: string;

  @Text({ max: 64, required: false, description: "Name or ID of the reader's client.", example: 'auditor' })
  client?: string;

  @Uuid('ID of the key that was used.')
  key?: string;

  @Text({ max: 128, required: false, description: 'The person who read.' })
  actor?: string;

  @Uuid('ID of a call that was read, alone or on a page. Exports do not list their calls.')
  call?: string;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });

/** How a streamed read ended. Its length is unknown when it begins. */
export class AccessEndRecord {
  @ApiProperty({ type: 'boolean', description: 'Whether the answer was sent completely.' }) complete!: boolean;
  @ApiProperty({ type: 'integer', description: 'Number of rows sent.' }) rows!: number;
  @nullable('string', 'SHA-256 of the file. Null if the export was interrupted.') sha256!: string | null;
  @nullable('integer', 'Log size at the checkpoint in the manifest.') checkpoint_size!: number | null;
  @ApiProperty({ type: 'string', format: 'date-time', description: "When it ended, by the database's clock." })
  ended_at!: Date;
}

/** One read of the history. */
export class AccessRecord {
  @ApiProperty({ type: 'string', format: 'uuid', description: '`X-Call-Id` of the read.' })
  id!: string;
  @ApiProperty({ type: 'string', format: 'date-time', description: "When it was read, by the database's clock." })
  read_at!: Date;
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/RecordClient' }, { type: 'null' }],
    description: "The reader's client. Null for the command line.",
  })
  client!: RecordClient | null;
  @nullable('string', 'The key that was used.', { format: 'uuid' }) key_id!: string | null;
  @nullable('string', 'The person, if known. Masked without `audit:pii`.') actor!: string | null;
  @ApiProperty({ type: 'string', description: 'The route that was read.', example: 'GET /v1/audit/calls' })
  route!: string;
  @nullable('string', 'The call that was read, if it was one call.', { format: 'uuid' }) call_id!: string | null;
  @ApiProperty({ type: 'array', items: { type: 'string', format: 'uuid' }, description: 'The calls on the page.' })
  call_ids!: string[];
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Filters of the read. Contacts are masked without `audit:pii`, and if they were erased.',
  })
  filters!: Record<string, string>;
  @ApiProperty({
    type: 'boolean',
    description: 'Whether people were shown unmasked, or the reader named a recipient and learned whether it was paid.',
  })
  revealed!: boolean;
  @nullable('integer', 'Number of rows shown. Null if `end` has it.') rows!: number | null;
  @nullable('string', 'Request ID that the reader sent, or a generated one.') request_id!: string | null;
  @nullable('string', 'Address of the sender.') client_address!: string | null;
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/AccessEndRecord' }, { type: 'null' }],
    description:
      'How an export ended. Null while it is in progress, if the proxy stopped during it, and for other reads.',
  })
  end!: AccessEndRecord | null;
}

export class AccessPage {
  @ApiProperty({ type: [AccessRecord], description: 'Newest first.' }) accesses!: AccessRecord[];
  @nullable('string', 'For `page_token`. Null on the last page.') next_page_token!: string | null;
}

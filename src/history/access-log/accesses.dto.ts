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

  @Text({ max: 64, required: false, description: "The reader's client: its name or id.", example: 'auditor' })
  client?: string;

  @Uuid('The id of the key that was used.')
  key?: string;

  @Text({ max: 128, required: false, description: 'The person who read.' })
  actor?: string;

  @Uuid('The id of a call that was asked for, or stood on a page. Exports do not list their calls.')
  call?: string;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });

/** How a reading ended whose length was not known when it began. */
export class AccessEndRecord {
  @ApiProperty({ type: 'boolean', description: 'Whether everything was given.' }) complete!: boolean;
  @ApiProperty({ type: 'integer', description: 'How many rows were given.' }) rows!: number;
  @nullable('string', 'SHA-256 of the bytes before the manifest; null where it was broken off.') sha256!: string | null;
  @nullable('integer', 'Size of the log at the checkpoint that the manifest names.') checkpoint_size!: number | null;
  @ApiProperty({ type: 'string', format: 'date-time', description: "When, by the database's clock." }) ended_at!: Date;
}

/** Somebody has read the history. */
export class AccessRecord {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The `X-Call-Id` of the answer that was read.' })
  id!: string;
  @ApiProperty({ type: 'string', format: 'date-time', description: "When, by the database's clock." }) read_at!: Date;
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/RecordClient' }, { type: 'null' }],
    description: 'Who; null: an operator, by a command.',
  })
  client!: RecordClient | null;
  @nullable('string', 'The key that was used.', { format: 'uuid' }) key_id!: string | null;
  @nullable('string', 'The person, as far as it is known. Masked without `audit:pii`.') actor!: string | null;
  @ApiProperty({ type: 'string', description: 'What was asked for.', example: 'GET /v1/audit/calls' }) route!: string;
  @nullable('string', 'The one call that was asked for.', { format: 'uuid' }) call_id!: string | null;
  @ApiProperty({ type: 'array', items: { type: 'string', format: 'uuid' }, description: 'The calls on the page.' })
  call_ids!: string[];
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'As asked. Contacts are masked without `audit:pii`, and where they were erased.',
  })
  filters!: Record<string, string>;
  @ApiProperty({ type: 'boolean', description: 'Whether people were shown as they are.' }) revealed!: boolean;
  @nullable('integer', 'How many rows were shown; null: `end` says so.') rows!: number | null;
  @nullable('string', "The reader's own id of the request, or ours.") request_id!: string | null;
  @nullable('string', 'Address the request came from.') client_address!: string | null;
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/AccessEndRecord' }, { type: 'null' }],
    description:
      'How an export ended; null where it goes on or was cut off with the proxy itself, and of everything else.',
  })
  end!: AccessEndRecord | null;
}

export class AccessPage {
  @ApiProperty({ type: [AccessRecord], description: 'Newest first.' }) accesses!: AccessRecord[];
  @nullable('string', 'For `page_token`; null on the last page.') next_page_token!: string | null;
}

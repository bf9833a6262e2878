import { ApiProperty } from '@nestjs/swagger';
import { BOOLEAN, described, INSTANT, INTEGER, nullable, ref, TEXT, UUID } from '../../platform/schema/fields';
import { Instant, PageSize, PageToken, Uuid } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
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

  @PageSize()
  page_size?: number;

  @PageToken()
  page_token?: string;
}

/** How a streamed read ended. Its length is unknown when it begins. */
export class AccessEndRecord {
  @described(BOOLEAN, 'Whether the answer was sent completely.') complete!: boolean;
  @described(INTEGER, 'Number of rows sent.') rows!: number;
  @nullable(TEXT, 'SHA-256 of the file. Null if the export was interrupted.') sha256!: string | null;
  @nullable(INTEGER, 'Log size at the checkpoint in the manifest.') checkpoint_size!: number | null;
  @described(INSTANT, "When it ended, by the database's clock.")
  ended_at!: Date;
}

/** One read of the history. */
export class AccessRecord {
  @described(UUID, '`X-Call-Id` of the read.')
  id!: string;
  @described(INSTANT, "When it was read, by the database's clock.")
  read_at!: Date;
  @nullable(ref('RecordClient'), "The reader's client. Null for the command line.")
  client!: RecordClient | null;
  @nullable(UUID, 'The key that was used.') key_id!: string | null;
  @nullable(TEXT, 'The person, if known. Masked without `audit:pii`.') actor!: string | null;
  @ApiProperty({ type: 'string', description: 'The route that was read.', example: 'GET /v1/audit/calls' })
  route!: string;
  @nullable(UUID, 'The call that was read, if it was one call.') call_id!: string | null;
  @described({ type: 'array', items: { type: 'string', format: 'uuid' } }, 'The calls on the page.')
  call_ids!: string[];
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Filters of the read. Contacts are masked without `audit:pii`, and if they were erased.',
  })
  filters!: Record<string, string>;
  @described(
    BOOLEAN,
    'Whether people were shown unmasked, or the reader named a recipient and learned whether it was paid.',
  )
  revealed!: boolean;
  @nullable(INTEGER, 'Number of rows shown. Null if `end` has it.') rows!: number | null;
  @nullable(TEXT, 'Request ID that the reader sent, or a generated one.') request_id!: string | null;
  @nullable(TEXT, 'Address of the sender.') client_address!: string | null;
  @nullable(
    ref('AccessEndRecord'),
    'How an export ended. Null while it is in progress, if the proxy stopped during it, and for other reads.',
  )
  end!: AccessEndRecord | null;
}

export class AccessPage {
  @described({ type: [AccessRecord] }, 'Newest first.') accesses!: AccessRecord[];
  @nextPageToken() next_page_token!: string | null;
}

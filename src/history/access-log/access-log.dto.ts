import { CHANGED_VIA, CLIENT_ACTIONS } from '../../access/clients/changes';
import { DelimiterName, DELIMITERS } from '../../http/answers/csv';
import { Instant, PageSize, PageToken, Uuid, OneOf } from '../../http/validation/rules/query-rules';
import { Text } from '../../http/validation/rules/rules';
import {
  BOOLEAN,
  described,
  INSTANT,
  INTEGER,
  nullable,
  ref,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import {
  nextPageToken,
  PageRequest,
  fromPageToken,
  joinPageToken,
  splitPageToken,
  toPageToken,
} from '../../platform/schema/page';
import { RecordClient } from '../records/record-parts.dto';
import { ActivityState } from './activity-state.dto';

export class AccessSearch implements PageRequest {
  @Instant('Read at this instant or later.') from?: string;

  @Instant('Read before this instant.') to?: string;

  @Text({ max: 64, required: false, description: "Name or ID of the reader's client.", example: 'auditor' })
  client?: string;

  @Uuid('ID of the key that was used.') key?: string;

  @Text({ max: 128, required: false, description: 'The reader.' }) actor?: string;

  @Uuid('ID of a shown call, alone or on a page. Exports do not list their calls.') call?: string;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

/** End of a streamed read, whose length is unknown at its beginning. */
export class AccessEndRecord {
  @described(BOOLEAN, 'Whether the answer was sent completely.') complete!: boolean;
  @described(INTEGER, 'Number of rows sent.') rows!: number;
  @nullable(TEXT, 'SHA-256 of the file. Null if the export was interrupted.') sha256!: string | null;
  @nullable(INTEGER, 'Log size at the checkpoint in the manifest.') checkpoint_size!: number | null;
  @described(INSTANT, "End, by the database's clock.") ended_at!: Date;
}

/** One read of the history. */
export class AccessRecord {
  @described(UUID, '`X-Call-Id` of the read.') id!: string;
  @described(INSTANT, "Time of the reading, by the database's clock.") read_at!: Date;
  @nullable(ref('RecordClient'), "The reader's client. Null for the command line.")
  client!: RecordClient | null;
  @nullable(UUID, 'The key that was used.') key_id!: string | null;
  @nullable(TEXT, 'The person, if known. Masked without `audit:pii`.') actor!: string | null;
  @described({ type: 'string', example: 'GET /v1/audit/calls' }, 'Route of the read.') route!: string;
  @nullable(UUID, 'The call. Null for reads of other data or of several calls.') call_id!: string | null;
  @described({ type: 'array', items: { type: 'string', format: 'uuid' } }, 'The calls on the page.')
  call_ids!: string[];
  @described(
    { type: 'object', additionalProperties: { type: 'string' } },
    'Filters of the read. Contacts are masked without `audit:pii`, or after an erasure.',
  )
  filters!: Record<string, string>;
  @described(
    BOOLEAN,
    'Whether the read revealed people: it showed them unmasked, or its filters named a recipient.',
  )
  revealed!: boolean;
  @nullable(INTEGER, 'Number of shown rows. Null if `end` has it.') rows!: number | null;
  @nullable(TEXT, 'Request ID that the reader sent, or a generated one.') request_id!: string | null;
  @nullable(TEXT, 'Address of the sender.') client_address!: string | null;
  @nullable(
    ref('AccessEndRecord'),
    'End of an export. Null while it is in progress, if the proxy stopped during it, and for other reads.',
  )
  end!: AccessEndRecord | null;
}

export class AccessPage {
  @described({ type: [AccessRecord] }, 'Newest first.') accesses!: AccessRecord[];
  @nextPageToken() next_page_token!: string | null;
}

const ACTIONS = [
  ...CLIENT_ACTIONS,
  'stop_set',
  'stop_lifted',
  'wallet_low',
  'wallet_recovered',
  'key_paid_twice',
  'false_rejection',
  'transaction_contradicted',
  'database_recovered',
  'person_erased',
  'month_pruned',
] as const;

/** Last act of a page. Several acts can share a microsecond. */
export interface ActivityCursor {
  at: string;
  action: string;
  id: string;
}

export function toActivityToken({ at, action, id }: ActivityCursor): string {
  return joinPageToken([at, action, toPageToken(id)]);
}

/** @returns undefined unless the text is a page token of the list. */
export function fromActivityToken(token: string): ActivityCursor | undefined {
  const [at = '', action = '', idToken = ''] = splitPageToken(token);
  const id = fromPageToken(idToken);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) && !Number.isNaN(Date.parse(at));
  return isTime && /^[a-z_]{1,40}$/.test(action) && id ? { at, action, id } : undefined;
}

export class ActivityFilters {
  @Instant('At this instant or later.') from?: string;

  @Instant('Before this instant.') to?: string;

  @OneOf(
    ACTIONS,
    'Kind of act. `ephemeral_key_issued` and `ephemeral_key_revoked` are listed only with this filter.',
  )
  action?: (typeof ACTIONS)[number];

  @Text({ max: 64, required: false, description: 'Name or ID of the changed client.', example: 'shop' })
  client?: string;

  @Text({
    max: 64,
    required: false,
    description: 'Name or ID of the author client.',
    example: 'admin',
  })
  by?: string;

  @Text({ max: 128, required: false, description: 'The author. Exact match.' }) actor?: string;

  @OneOf(CHANGED_VIA, 'Origin of the change.') via?: (typeof CHANGED_VIA)[number];
}

export class ActivitySearch extends ActivityFilters implements PageRequest {
  @PageSize() page_size?: number;

  @PageToken(fromActivityToken) page_token?: string;
}

export class ActivityCsvSearch extends ActivityFilters {
  @OneOf(Object.keys(DELIMITERS), 'Delimiter between cells. Default: `comma`.') delimiter?: DelimiterName;
}

/** Target of an act. */
class ActivityTarget {
  @nullable(RecordClient, 'The changed or stopped client.') client!: RecordClient | null;
  @nullable(UUID, 'The issued or revoked key.') key_id!: string | null;
  @nullable(TEXT, 'The stopped operation.') operation!: string | null;
}

/** Author of an act. */
class ActivityAuthor {
  @nullable(RecordClient, 'The client. Null for the command line and the proxy itself.')
  client!: RecordClient | null;
  @nullable(UUID, 'The key that was used.') key_id!: string | null;
  @nullable(TEXT, 'Owner of the key, or user of the operating system for commands. Null if unknown.')
  actor!: string | null;
}

/** An administrative act. */
export class ActivityRecord {
  @described(UUID, 'ID of its record. Setting and lifting a stop share the ID of the stop.') id!: string;
  @described(INSTANT, "Time of the event, by the database's clock.") at!: Date;
  @described({ enum: ACTIONS }, 'Kind of act.') action!: string;
  @described({ type: ActivityTarget }, 'Target of the act.') target!: ActivityTarget;
  @nullable(
    ActivityState,
    'Changed fields before the act. Null for creations, stops, and the first act of a wallet.',
  )
  before!: ActivityState | null;
  @nullable(ActivityState, 'Changed fields after the act. Null for stops.') after!: ActivityState | null;
  @described({ type: ActivityAuthor }, 'Author of the act.') by!: ActivityAuthor;
  @described(
    { enum: CHANGED_VIA },
    'Origin of the act. `start`: the start of a proxy or worker. `worker`: the background work of the proxy.',
  )
  via!: string;
  @nullable(TEXT, 'Address of the sender. Null for commands and stops.') client_address!: string | null;
  @nullable(TEXT, 'Request ID that the caller sent, or a generated one. Null for commands and stops.')
  request_id!: string | null;
  @nullable(UUID, 'The `X-Call-Id` of the request. Null for commands and stops.') call_id!: string | null;
  @nullable(TEXT, 'Reason for the act.') reason!: string | null;
}

export class ActivityPage {
  @described({ type: [ActivityRecord] }, 'Newest first.') activity!: ActivityRecord[];
  @nextPageToken() next_page_token!: string | null;
}

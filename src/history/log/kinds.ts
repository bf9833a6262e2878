import { CALL_KINDS } from './call-kinds';
import { AUTHOR, Kind, REQUEST } from './kind';
import { RECONCILIATION_KINDS } from './reconciliation-kinds';

export type { Columns, ColumnType, Kind } from './kind';

/** The kinds of records that the log seals. Each kind lists the columns of its leaf (leaves.ts). */
export const KINDS = {
  ...CALL_KINDS,
  stop: {
    key: 'id',
    at: 'stopped_at',
    columns: {
      ...AUTHOR,
      id: 'uuid',
      stops_client_id: 'uuid',
      stops_operation: 'text',
      reason: 'text',
      stopped_at: 'time',
    },
  },
  stop_lift: { key: 'stop_id', at: 'lifted_at', columns: { ...AUTHOR, stop_id: 'uuid', lifted_at: 'time' } },
  reservation_release: {
    key: 'intent_id',
    at: 'released_at',
    columns: { intent_id: 'uuid', released_at: 'time' },
  },
  answer_shape: {
    key: 'id',
    at: 'first_seen_at',
    columns: {
      id: 'uuid',
      operation: 'text',
      http_status: 'integer',
      fingerprint: 'bytes',
      shape: 'json',
      first_call_id: 'uuid',
      first_seen_at: 'time',
    },
  },
  access: {
    key: 'id',
    at: 'read_at',
    columns: {
      ...REQUEST,
      id: 'uuid',
      route: 'text',
      call_id: 'uuid',
      call_ids: 'list',
      filters: 'json',
      filters_commitment: 'bytes',
      revealed: 'boolean',
      rows: 'integer',
      read_at: 'time',
    },
  },
  access_end: {
    key: 'access_id',
    at: 'ended_at',
    columns: {
      access_id: 'uuid',
      complete: 'boolean',
      rows: 'bigint',
      sha256: 'bytes',
      checkpoint_size: 'bigint',
      ended_at: 'time',
    },
  },
  erasure: {
    key: 'id',
    at: 'erased_at',
    columns: {
      id: 'uuid',
      kind: 'text',
      reason: 'text',
      actor: 'text',
      places: 'list',
      erased_at: 'time',
      signature: 'bytes',
    },
  },
  pruning: {
    key: 'id',
    at: 'pruned_at',
    columns: {
      id: 'uuid',
      what: 'text',
      month: 'text',
      reason: 'text',
      actor: 'text',
      kept: 'list',
      rows: 'bigint',
      leaves: 'bigint',
      checkpoint: 'text',
      pruned_at: 'time',
      signature: 'bytes',
    },
  },
  activity: {
    key: 'id',
    at: 'acted_at',
    columns: {
      ...REQUEST,
      id: 'uuid',
      action: 'text',
      target_client_id: 'uuid',
      target_client: 'text',
      target_key_id: 'uuid',
      before: 'text',
      after: 'text',
      via: 'text',
      call_id: 'uuid',
      reason: 'text',
      acted_at: 'time',
    },
  },
  ...RECONCILIATION_KINDS,
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** The kinds in the order in which a pass of the sealer reads them: requests before their outcomes. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

import { AUTHOR, Columns, Kind } from './kind';
import { RECONCILIATION_KINDS } from './reconciliation-kinds';

export type { Columns, ColumnType, Kind } from './kind';

/** The kinds of records that the log seals, and of each what stands in its leaf (leaves.ts). */

const REQUEST: Columns = { ...AUTHOR, request_id: 'text', client_address: 'text' };

export const KINDS = {
  intent: {
    key: 'id',
    at: 'recorded_at',
    columns: {
      ...REQUEST,
      ...{ id: 'uuid', operation: 'text', traceparent: 'text', query: 'text', item_count: 'integer' },
      total_usd: 'numeric',
      ...{ body_commitment: 'bytes', received_at: 'time', recorded_at: 'time', coverage: 'text', caused_by: 'uuid' },
      ...{ idempotency_key: 'text', held_for: 'text', expires_at: 'time', reserved_on: 'date', process: 'integer' },
    },
    added: { duplicate_of: 'uuid' },
    items: {
      table: 'intent_item',
      order: 'position',
      columns: {
        ...{ position: 'integer', recipient_field: 'text', handle_ignored: 'boolean', amount_usd: 'numeric' },
        ...{
          country: 'text',
          network_code: 'text',
          reference: 'text',
          receiver: 'text',
          wallet: 'text',
          chi_ref: 'text',
        },
        ...{ email_commitment: 'bytes', phone_commitment: 'bytes', handle_commitment: 'bytes' },
      },
    },
  },
  outcome: {
    key: 'intent_id',
    at: 'recorded_at',
    columns: {
      ...{ intent_id: 'uuid', kind: 'text', failure: 'text', upstream_status: 'integer', content_type: 'text' },
      ...{
        retry_after: 'integer',
        body_commitment: 'bytes',
        sent_at: 'time',
        answered_at: 'time',
        upstream_ms: 'numeric',
      },
      ...{ recorded_at: 'time', answer_of: 'uuid', attempts: 'integer', tries: 'json' },
    },
    items: {
      table: 'outcome_item',
      order: 'ordinal',
      columns: {
        ...{ ordinal: 'integer', position: 'integer', chi_ref: 'text', upstream_id: 'text', issue_id: 'text' },
        ...{ status: 'text', amount_usd: 'numeric' },
      },
    },
  },
  refusal: {
    key: 'id',
    at: 'recorded_at',
    columns: {
      ...REQUEST,
      ...{ id: 'uuid', operation: 'text', traceparent: 'text', status: 'integer', code: 'text', detail: 'text' },
      ...{ faults: 'json', fault_count: 'integer', received_at: 'time', recorded_at: 'time' },
      ...{ idempotency_key: 'text', first_call_id: 'uuid' },
    },
  },
  decision: {
    key: 'intent_id',
    at: 'decided_at',
    columns: {
      ...AUTHOR,
      ...{ intent_id: 'uuid', verdict: 'text', reason: 'text', body_commitment: 'bytes', decided_at: 'time' },
      ...{ reserved_on: 'date', process: 'integer' },
    },
  },
  resolution: {
    key: 'intent_id',
    at: 'resolved_at',
    columns: { ...AUTHOR, intent_id: 'uuid', verdict: 'text', reason: 'text', resolved_at: 'time' },
  },
  resolution_correction: {
    key: 'id',
    at: 'resolved_at',
    columns: {
      ...AUTHOR,
      ...{ id: 'uuid', intent_id: 'uuid', supersedes: 'uuid', verdict: 'text', reason: 'text', reserves: 'boolean' },
      resolved_at: 'time',
    },
  },
  correction_release: {
    key: 'correction_id',
    at: 'released_at',
    columns: { correction_id: 'uuid', intent_id: 'uuid', released_at: 'time' },
  },
  stop: {
    key: 'id',
    at: 'stopped_at',
    columns: {
      ...AUTHOR,
      ...{ id: 'uuid', stops_client_id: 'uuid', stops_operation: 'text', reason: 'text', stopped_at: 'time' },
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
      ...{ id: 'uuid', operation: 'text', http_status: 'integer', fingerprint: 'bytes', shape: 'json' },
      ...{ first_call_id: 'uuid', first_seen_at: 'time' },
    },
  },
  access: {
    key: 'id',
    at: 'read_at',
    columns: {
      ...REQUEST,
      ...{ id: 'uuid', route: 'text', call_id: 'uuid', call_ids: 'list', filters: 'json', filters_commitment: 'bytes' },
      ...{ revealed: 'boolean', rows: 'integer', read_at: 'time' },
    },
  },
  access_end: {
    key: 'access_id',
    at: 'ended_at',
    columns: {
      ...{ access_id: 'uuid', complete: 'boolean', rows: 'bigint', sha256: 'bytes', checkpoint_size: 'bigint' },
      ...{ ended_at: 'time' },
    },
  },
  erasure: {
    key: 'id',
    at: 'erased_at',
    columns: {
      ...{ id: 'uuid', kind: 'text', reason: 'text', actor: 'text', places: 'list', erased_at: 'time' },
      ...{ signature: 'bytes' },
    },
  },
  pruning: {
    key: 'id',
    at: 'pruned_at',
    columns: {
      ...{ id: 'uuid', what: 'text', month: 'text', reason: 'text', actor: 'text', kept: 'list', rows: 'bigint' },
      leaves: 'bigint',
      ...{ checkpoint: 'text', pruned_at: 'time', signature: 'bytes' },
    },
  },
  activity: {
    key: 'id',
    at: 'acted_at',
    columns: {
      ...REQUEST,
      ...{ id: 'uuid', action: 'text', target_client_id: 'uuid', target_client: 'text', target_key_id: 'uuid' },
      ...{ before: 'text', after: 'text', via: 'text', call_id: 'uuid', reason: 'text', acted_at: 'time' },
    },
  },
  ...RECONCILIATION_KINDS,
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** In the order in which one pass of the sealer reads them: what was asked before what came of it. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

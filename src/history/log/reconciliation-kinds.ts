import { AUTHOR, Kind } from './kind';

/** The kinds of records that reconciliation makes. */
export const RECONCILIATION_KINDS = {
  source_read: {
    key: 'id',
    at: 'read_at',
    columns: {
      ...AUTHOR,
      ...{ id: 'uuid', source: 'text', subject: 'text', from_at: 'time', to_at: 'time', mapping: 'json' },
      ...{ caused_by: 'uuid', read_at: 'time' },
    },
  },
  source_read_end: {
    key: 'read_id',
    at: 'ended_at',
    columns: {
      ...{ read_id: 'uuid', complete: 'boolean', failure: 'text', http_status: 'integer', bytes: 'bigint' },
      ...{ sha256: 'bytes', rows: 'bigint', kept: 'bigint', faults: 'integer', ended_at: 'time' },
    },
  },
  verdict: {
    key: 'id',
    at: 'decided_at',
    columns: {
      ...{ id: 'uuid', intent_id: 'uuid', verdict: 'text', reason: 'text', evidence: 'json', decided_at: 'time' },
    },
  },
  upstream_event: {
    key: 'id',
    at: 'received_at',
    columns: {
      ...{ id: 'uuid', event_id: 'text', event_type: 'text', issue_id: 'text', upstream_id: 'text', chi_ref: 'text' },
      ...{ status: 'text', amount_usd: 'numeric', signed_at: 'time', received_at: 'time' },
    },
  },
  reconciliation_run: {
    key: 'id',
    at: 'started_at',
    columns: {
      ...AUTHOR,
      ...{ id: 'uuid', from_at: 'time', to_at: 'time', as_of: 'time', historical: 'boolean', read_id: 'uuid' },
      ...{ settings: 'json', due_at: 'time', started_at: 'time' },
    },
  },
  reconciliation_run_end: {
    key: 'run_id',
    at: 'ended_at',
    columns: {
      ...{ run_id: 'uuid', result: 'text', failure: 'text', read_id: 'uuid', totals: 'json', ended_at: 'time' },
    },
  },
  finding: {
    key: 'id',
    at: 'found_at',
    columns: {
      ...{ id: 'uuid', category: 'text', subject: 'text', call_id: 'uuid', position: 'integer', chi_ref: 'text' },
      ...{ upstream_id: 'text', issue_id: 'text', wallet_id: 'text', occurred_at: 'time', run_id: 'uuid' },
      found_at: 'time',
    },
  },
  finding_sight: {
    key: 'id',
    at: 'seen_at',
    columns: {
      ...{ id: 'uuid', finding_id: 'uuid', run_id: 'uuid', impact_usd: 'numeric', fields: 'json', evidence: 'json' },
      seen_at: 'time',
    },
  },
  finding_step: {
    key: 'id',
    at: 'decided_at',
    columns: {
      ...AUTHOR,
      ...{ id: 'uuid', finding_id: 'uuid', state: 'text', reason: 'text', impact_usd: 'numeric', run_id: 'uuid' },
      decided_at: 'time',
    },
  },
} as const satisfies Record<string, Kind>;

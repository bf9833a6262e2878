import { Listed } from '../search/cursor';
import { maskContacts, maskEmail, maskHandle, maskPhone, maskProse } from '../records/masking';

export interface Column {
  name: string;
  /** SQL over the tables that export-rows.ts joins. A column without it is derived from the others. */
  sql?: string;
  /** The same SQL for a refused request. */
  refused?: string;
  /** Masks the value for keys that may not see people. */
  mask?: (value: string) => string;
}

/** ISO 8601, UTC, microseconds. */
const time = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
/** Decimal text, exact, without trailing zeros. */
const decimal = (column: string) => `trim_scale(${column})::text`;

/** A column of both tables, intent (i) and refusal (r). */
const both = (name: string, more: Partial<Column> = {}): Column => ({
  name,
  sql: `i.${name}`,
  refused: `r.${name}`,
  ...more,
});
const bothTimes = (name: string): Column => ({ name, sql: time(`i.${name}`), refused: time(`r.${name}`) });

const CLIENT: Column[] = [
  both('client_id'),
  { name: 'client', sql: 'c.name', refused: 'c.name' },
  both('key_id'),
  both('actor', { mask: maskContacts }),
];
const RESULT: Column[] = [{ name: 'outcome' }, { name: 'in_doubt_since' }];
const REQUEST: Column[] = [
  both('idempotency_key', { mask: maskContacts }),
  both('request_id', { mask: maskContacts }),
  both('client_address'),
];
const EXCHANGE: Column[] = [
  { name: 'sent_at', sql: time('o.sent_at') },
  { name: 'answered_at', sql: time('o.answered_at') },
  { name: 'upstream_ms', sql: 'o.upstream_ms' },
  { name: 'upstream_status', sql: 'o.upstream_status' },
  { name: 'failure', sql: 'o.failure' },
];

const CALLS: Column[] = [
  both('id'),
  bothTimes('received_at'),
  ...CLIENT,
  both('operation'),
  ...RESULT,
  { name: 'item_count', sql: 'i.item_count', refused: '0' },
  { name: 'total_usd', sql: decimal('i.total_usd') },
  { name: 'coverage', sql: 'i.coverage' },
  { name: 'caused_by', sql: 'i.caused_by' },
  { name: 'duplicate_of', sql: 'i.duplicate_of' },
  ...REQUEST,
  both('traceparent'),
  bothTimes('recorded_at'),
  ...EXCHANGE,
  { name: 'outcome_recorded_at', sql: time('o.recorded_at') },
  { name: 'attempts', sql: 'o.attempts' },
  { name: 'answer_of', sql: 'o.answer_of' },
  { name: 'refusal_status', refused: 'r.status' },
  { name: 'refusal_code', refused: 'r.code' },
  { name: 'refusal_detail', refused: 'r.detail', mask: maskProse },
  { name: 'first_call_id', refused: 'r.first_call_id' },
  { name: 'held_for', sql: 'i.held_for' },
  { name: 'expires_at', sql: time('i.expires_at') },
  { name: 'approval' },
  { name: 'decided_at', sql: time('d.decided_at') },
  { name: 'decided_by_client_id', sql: 'd.client_id' },
  { name: 'decided_by_key_id', sql: 'd.key_id' },
  { name: 'decided_by_actor', sql: 'd.actor', mask: maskContacts },
  { name: 'decision_reason', sql: 'd.reason', mask: maskProse },
  { name: 'resolution', sql: 's.outcome' },
  { name: 'resolved_at', sql: time('s.resolved_at') },
  { name: 'resolved_by_client_id', sql: 's.client_id' },
  { name: 'resolved_by_key_id', sql: 's.key_id' },
  { name: 'resolved_by_actor', sql: 's.actor', mask: maskContacts },
  { name: 'resolution_reason', sql: 's.reason', mask: maskProse },
];

/** A free-text column, in which callers may have written a contact. */
const free = (name: string): Column => ({ name, sql: `t.${name}`, mask: maskContacts });

const ITEMS: Column[] = [
  { name: 'call_id', sql: 'i.id' },
  { name: 'position', sql: 't.position' },
  { name: 'received_at', sql: time('i.received_at') },
  ...CLIENT,
  both('operation'),
  ...RESULT,
  { name: 'recipient_field', sql: 't.recipient_field' },
  { name: 'email', sql: 'n.email', mask: maskEmail },
  { name: 'phone', sql: 'n.phone', mask: maskPhone },
  { name: 'handle', sql: 'n.handle', mask: maskHandle },
  free('receiver'),
  { name: 'amount_usd', sql: decimal('t.amount_usd') },
  ...['country', 'network_code', 'reference', 'wallet'].map(free),
  { name: 'requested_upstream_ref', sql: 't.upstream_ref', mask: maskContacts },
  // From the answer. Without one, from the transaction that was found to be this payout (f).
  { name: 'upstream_ref', sql: 'coalesce(u.upstream_ref, f.upstream_ref)', mask: maskContacts },
  { name: 'upstream_id', sql: 'coalesce(u.upstream_id, f.upstream_id)', mask: maskContacts },
  { name: 'batch_ref', sql: 'coalesce(u.batch_ref, f.batch_ref)', mask: maskContacts },
  { name: 'upstream_item_status', sql: 'coalesce(u.status, f.status)', mask: maskProse },
  { name: 'upstream_amount_usd', sql: decimal('coalesce(u.amount_usd, f.amount_usd)') },
  ...REQUEST,
  ...EXCHANGE,
  { name: 'approval' },
  { name: 'resolution', sql: 's.outcome' },
];

/** The columns in the order of the export. The order never changes: new columns are appended. */
export const COLUMNS: Record<Listed, readonly Column[]> = { calls: CALLS, items: ITEMS };

/** Columns that the outcome is derived from (src/operations/lifecycle.ts). They are not exported themselves. */
export const STATE_COLUMNS: readonly Column[] = [
  { name: '$refused', sql: 'r.id IS NOT NULL', refused: 'TRUE' },
  { name: '$recorded_at', sql: time('i.recorded_at') },
  { name: '$process', sql: 'i.process' },
  { name: '$held_for', sql: 'i.held_for' },
  { name: '$expires_at', sql: time('i.expires_at') },
  { name: '$decision', sql: 'd.kind' },
  { name: '$decided_at', sql: time('d.decided_at') },
  { name: '$decision_process', sql: 'd.process' },
  { name: '$outcome', sql: 'o.kind' },
  { name: '$answered_at', sql: time('o.answered_at') },
  { name: '$resolution', sql: 's.outcome' },
];

/**
 * What the log seals: one leaf for each record, which is the record as canonical JSON (RFC 8785). Postgres writes the text
 * itself, from the base tables: a view could be changed by whoever owns the database, and no seal would notice.
 *
 * A leaf never changes. A column that is added to a record table must stand in the leaves of those rows only that have it:
 * old leaves are without it.
 */

/** How a column's type is written. JSON's own numbers are doubles, so only small integers are numbers. */
const WRITTEN = {
  text: (column) => column,
  uuid: (column) => column,
  boolean: (column) => column,
  integer: (column) => column,
  list: (column) => column,
  bigint: (column) => `${column}::text`,
  numeric: (column) => `${column}::text`,
  json: (column) => `${column}::text`, // as it is kept: Postgres' spacing and order of members are not RFC 8785's
  bytes: (column) => `encode(${column}, 'hex')`,
  date: (column) => ofOurEra(column, `to_char(${column}, 'YYYY-MM-DD')`),
  time: (column) => ofOurEra(column, `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`),
} as const satisfies Record<string, (column: string) => string>;

/** A year's number says nothing of its era: without this, the same date before Christ would have the same leaf. */
function ofOurEra(column: string, written: string): string {
  return `CASE WHEN ${column} >= '0001-01-02' AND ${column} < 'infinity' THEN ${written} ELSE ${column}::text END`;
}

export type ColumnType = keyof typeof WRITTEN;

type Columns = Record<string, ColumnType>;

interface Kind {
  /** The primary key. */
  key: string;
  /** When the database wrote it, by its own clock. */
  at: string;
  /** All but `tx`, which says nothing of what happened. */
  columns: Columns;
  /** Rows of a table beside it that belong to the record; they bear its `intent_id`, and stand in their order in its leaf. */
  items?: { table: string; order: string; columns: Columns };
}

const AUTHOR: Columns = { client_id: 'uuid', key_id: 'uuid', actor: 'text' };
const REQUEST: Columns = { ...AUTHOR, request_id: 'text', client_address: 'text' };

export const KINDS = {
  intent: {
    key: 'id',
    at: 'recorded_at',
    columns: {
      ...REQUEST,
      ...{
        id: 'uuid',
        operation: 'text',
        traceparent: 'text',
        query: 'text',
        item_count: 'integer',
        total_usd: 'numeric',
      },
      ...{ body_commitment: 'bytes', received_at: 'time', recorded_at: 'time', coverage: 'text', caused_by: 'uuid' },
      ...{ idempotency_key: 'text', held_for: 'text', expires_at: 'time', reserved_on: 'date', process: 'integer' },
    },
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
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** In the order in which one pass of the sealer reads them: what was asked before what came of it. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

/** SQL for the leaf of the row that `alias` stands for, as text. A member `table` keeps records of two tables apart. */
export function leafSql(name: KindName, alias: string): string {
  const { key, columns, items } = kindOf(name);
  const members: Record<string, string> = { ...membersOf(columns, alias), table: `'${name}'::text` };
  if (items) {
    const { table, order } = items;
    const rows = `SELECT ${objectSql(membersOf(items.columns, 'n'))} FROM public.${table} n WHERE n.intent_id = ${alias}.${key}`;
    members.items = `array_to_json(ARRAY(${rows} ORDER BY n.${order}))`;
  }
  return `${objectSql(members)}::text`;
}

function membersOf(columns: Columns, alias: string): Record<string, string> {
  return Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, WRITTEN[type](`${alias}.${name}`)]));
}

/** Members in the order of RFC 8785, section 3.2.3; row_to_json writes neither blanks nor line ends. */
function objectSql(members: Record<string, string>): string {
  const sorted = Object.keys(members).sort();
  const list = sorted.map((name) => `${members[name]} AS "${name}"`).join(', ');
  return `(SELECT row_to_json(m) FROM (SELECT ${list}) m)`;
}

import { ColumnOfRecord } from '../../journal/records/document-sql';
import { OUTCOME_COLUMNS } from '../../journal/records/outcome-rows';
import { INTENT_COLUMNS, LATER_MEMBERS, REFUSAL_COLUMNS } from '../../journal/records/request-members';

/** Form of a column's value in a leaf (leafSql). */
export type Form =
  /** As JSON: texts, IDs, booleans, small integers, and lists of texts. */
  | 'plain'
  /** As Postgres text: decimals, JSON, and integers beyond the range of doubles. */
  | 'text'
  | 'hex'
  | 'date'
  | 'time';

interface Kind {
  /** The primary key. */
  key: string;
  /** Column with the time of the record, by the database's own clock. */
  at: string;
  /** All columns except `tx`, which only the database understands. For a document, those of its members. */
  columns: Record<string, Form>;
  /**
   * Columns added by each later change. A leaf includes them only if one of them, or of a change after it,
   * has a value. Earlier leaves stay the same.
   */
  later: string[][];
  /** Whether the row has the text of its leaf, in the column `record`. */
  isDocument: boolean;
}

/**
 * Columns of a kind by form, and later ones: names separated by spaces. The first plain column is the key,
 * and the last time is that of the record. `members` are columns with the values of members.
 */
type Columns = { plain: string; time: string; members?: ColumnOfRecord[] } & Partial<
  Record<Form | 'later', string>
>;

function kind({ later, members = [], ...columns }: Columns, isDocument = false): Kind {
  const entries = Object.entries(columns) as [Form, string][];
  const named = entries.flatMap(([form, names]) => names.split(' ').map((name) => [name, form] as const));
  const ofMembers = members.map(({ name, type }) => [name, FORMS[type] ?? 'plain'] as const);
  const added = LATER_MEMBERS.filter(({ name }) => members.some((member) => member.name === name));
  return {
    key: columns.plain.split(' ')[0]!,
    at: columns.time.split(' ').at(-1)!,
    columns: Object.fromEntries([...named, ...ofMembers]),
    later: [...(later ? [later.split(' ')] : []), ...added.map(({ name }) => [name])],
    isDocument,
  };
}

type Forms = Partial<Record<ColumnOfRecord['type'], Form>>;
/** Forms of columns with the values of members, by type. Others are plain. */
const FORMS: Forms = { numeric: 'text', json: 'text', bytea: 'hex', date: 'date', timestamptz: 'time' };

/** The author of a record. */
const AUTHOR = 'client_id key_id actor';
/** The request that caused a record. */
const REQUEST = `${AUTHOR} request_id client_address`;

/** Kinds of sealed records, requests before their outcomes. Each kind lists the columns of its leaf. */
const KINDS = {
  intent: kind({ plain: 'id', time: 'recorded_at', members: INTENT_COLUMNS }, true),
  outcome: kind({ plain: 'intent_id', time: 'recorded_at', members: OUTCOME_COLUMNS }, true),
  refusal: kind({
    plain: 'id status code detail fault_count first_call_id',
    text: 'faults credential',
    hex: 'idempotency_key_commitment',
    time: 'recorded_at',
    later: 'idempotency_key_commitment person_id actor_commitment actor_source ephemeral_key_id credential',
    members: REFUSAL_COLUMNS,
  }),
  decision: kind({
    plain: `intent_id kind reason process screening ${AUTHOR}`,
    hex: 'body_commitment',
    date: 'reserved_on',
    time: 'decided_at',
    later: 'screening',
  }),
  settlement: kind(
    { plain: 'id intent_id number resolution', text: 'counted_usd', time: 'recorded_at' },
    true,
  ),
  stop: kind({
    plain: `id stops_client_id stops_operation reason cause epoch via ${AUTHOR}`,
    time: 'stopped_at',
    later: 'cause epoch via',
  }),
  stop_lift: kind({
    plain: `stop_id unreconciled via ${AUTHOR}`,
    time: 'lifted_at',
    later: 'unreconciled via',
  }),
  answer_shape: kind({
    plain: 'id operation http_status first_call_id',
    text: 'shape',
    hex: 'fingerprint',
    time: 'first_seen_at',
  }),
  access: kind({
    plain: `id route call_id call_ids revealed rows ${REQUEST}`,
    text: 'filters',
    hex: 'filters_commitment',
    time: 'read_at',
  }),
  access_end: kind({
    plain: 'access_id complete',
    text: 'rows checkpoint_size',
    hex: 'sha256',
    time: 'ended_at',
  }),
  erasure: kind({ plain: 'id kind reason actor places', hex: 'signature', time: 'erased_at' }),
  pruning: kind({
    plain: 'id what month reason actor kept checkpoint',
    text: 'rows leaves',
    hex: 'signature',
    time: 'pruned_at',
  }),
  activity: kind({
    plain:
      'id action target_client_id target_client target_key_id before after via call_id reason ' + REQUEST,
    time: 'acted_at',
  }),
  source_read: kind({
    plain: `id account source subject caused_by ${AUTHOR}`,
    text: 'mapping',
    time: 'from_at to_at read_at',
    later: 'account',
  }),
  source_read_end: kind({
    plain: 'read_id complete failure http_status faults',
    text: 'bytes rows kept evidence',
    hex: 'sha256',
    time: 'ended_at',
    later: 'evidence',
  }),
  verdict: kind({ plain: 'id intent_id verdict reason', text: 'evidence', time: 'decided_at' }),
  upstream_event: kind({
    plain: 'id account event_id event_type batch_ref upstream_id upstream_ref status',
    text: 'amount_usd',
    time: 'signed_at received_at',
    later: 'account',
  }),
  reconciliation_run: kind({
    plain: `id account historical read_id ${AUTHOR}`,
    text: 'settings',
    time: 'from_at to_at as_of due_at started_at',
    later: 'account',
  }),
  reconciliation_run_end: kind({
    plain: 'run_id result failure read_id',
    text: 'totals evidence',
    time: 'ended_at',
    later: 'evidence',
  }),
  finding: kind({
    plain: 'id account category subject call_id position upstream_ref upstream_id batch_ref wallet_id run_id',
    time: 'occurred_at found_at',
    later: 'account',
  }),
  finding_sight: kind({ plain: 'id finding_id run_id', text: 'impact_usd fields evidence', time: 'seen_at' }),
  finding_step: kind({
    plain: `id finding_id state reason run_id ${AUTHOR}`,
    text: 'impact_usd',
    time: 'decided_at',
  }),
};

export type KindName = keyof typeof KINDS;

/** Kinds in the order in which a pass of the sealer reads them. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

/** SQL for each form. JSON numbers are doubles, and Postgres formats JSON columns unlike RFC 8785. */
const FORM_SQL = {
  plain: (column) => column,
  text: (column) => `${column}::text`,
  hex: (column) => `encode(${column}, 'hex')`,
  date: (column) => ofOurEra(column, `to_char(${column}, 'YYYY-MM-DD')`),
  time: (column) => ofOurEra(column, utcSql(column)),
} as const satisfies Record<Form, (column: string) => string>;

/** SQL for an instant as ISO 8601 with microseconds. */
export function utcSql(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Marks dates before Christ. Year numbers omit the era, so dates of both eras would have the same leaf. */
function ofOurEra(column: string, written: string): string {
  const isOurEra = `${column} >= '0001-01-02' AND ${column} < 'infinity'`;
  return `CASE WHEN ${isOurEra} THEN ${written} ELSE ${column}::text END`;
}

/**
 * Returns SQL for the leaf of the row `alias`: the record as canonical JSON (RFC 8785). Documents store this
 * text. Postgres writes that of other records from the base tables, because the database owner could change
 * a view, and no seal would notice.
 *
 * A member `table` distinguishes records of different tables. Members are ordered by RFC 8785, section 3.2.3.
 * row_to_json writes neither spaces nor line ends.
 */
export function leafSql(name: KindName, alias: string): string {
  const { columns, later, isDocument } = kindOf(name);
  if (isDocument) return `${alias}.record`;
  const values = new Map(
    Object.entries(columns).map(([column, form]) => [column, FORM_SQL[form](`${alias}.${column}`)]),
  );
  values.set('table', `'${name}'::text`);
  const leaves = [...later].reverse().map((added) => {
    const leaf =
      `WHEN num_nonnulls(${added.map((column) => `${alias}.${column}`).join(', ')}) > 0 THEN ` +
      `${objectSql(values)}`;
    for (const column of added) values.delete(column);
    return leaf;
  });
  const earliest = objectSql(values);
  return leaves.length === 0 ? earliest : `(CASE ${leaves.join(' ')} ELSE ${earliest} END)`;
}

function objectSql(values: Map<string, string>): string {
  const members = [...values.keys()].sort().map((member) => `${values.get(member)} AS "${member}"`);
  return `(SELECT row_to_json(m) FROM (SELECT ${members.join(', ')}) m)::text`;
}

import { Columns, ColumnType, KindName, kindOf } from './kinds';

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
} as const satisfies Record<ColumnType, (column: string) => string>;

/** A year's number says nothing of its era: without this, the same date before Christ would have the same leaf. */
function ofOurEra(column: string, written: string): string {
  return `CASE WHEN ${column} >= '0001-01-02' AND ${column} < 'infinity' THEN ${written} ELSE ${column}::text END`;
}

/** SQL for the leaf of the row that `alias` stands for, as text. A member `table` keeps records of two tables apart. */
export function leafSql(name: KindName, alias: string): string {
  const { key, columns, added = {}, items } = kindOf(name);
  const members: Record<string, string> = { ...membersOf(columns, alias), table: `'${name}'::text` };
  if (items) {
    const { table, order } = items;
    const rows = `SELECT ${objectSql(membersOf(items.columns, 'n'))} FROM public.${table} n WHERE n.intent_id = ${alias}.${key}`;
    members.items = `array_to_json(ARRAY(${rows} ORDER BY n.${order}))`;
  }
  return `${withAdded(members, Object.entries(added), alias)}::text`;
}

/** One form of the object for each of the columns that came later that has a value, and one without. */
function withAdded(members: Record<string, string>, added: [string, ColumnType][], alias: string): string {
  const [first, ...others] = added;
  if (!first) return objectSql(members);
  const [name, type] = first;
  const more = { ...members, ...membersOf({ [name]: type }, alias) };
  return `(CASE WHEN ${alias}.${name} IS NULL THEN ${withAdded(members, others, alias)} ELSE ${withAdded(more, others, alias)} END)`;
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

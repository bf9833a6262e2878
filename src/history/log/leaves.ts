import { Columns, ColumnType, KindName, kindOf } from './kinds';

/**
 * The log seals one leaf for each record: the record as canonical JSON (RFC 8785). Documents store this text. For other
 * records, Postgres writes it from the base tables. The database owner could change a view, and no seal would notice.
 */

/** SQL for each column type. JSON numbers are doubles, so only small integers are written as numbers. */
const WRITTEN = {
  text: (column) => column,
  uuid: (column) => column,
  boolean: (column) => column,
  integer: (column) => column,
  list: (column) => column,
  bigint: (column) => `${column}::text`,
  numeric: (column) => `${column}::text`,
  json: (column) => `${column}::text`, // as stored: Postgres does not write JSON columns as RFC 8785 does
  bytes: (column) => `encode(${column}, 'hex')`,
  date: (column) => ofOurEra(column, `to_char(${column}, 'YYYY-MM-DD')`),
  time: (column) => ofOurEra(column, `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`),
} as const satisfies Record<ColumnType, (column: string) => string>;

/** Marks dates before Christ. A year's number does not name its era, so both eras would have the same leaf. */
function ofOurEra(column: string, written: string): string {
  return `CASE WHEN ${column} >= '0001-01-02' AND ${column} < 'infinity' THEN ${written} ELSE ${column}::text END`;
}

/** Returns SQL for the leaf of the row `alias`, as text. A member `table` keeps records of different tables apart. */
export function leafSql(name: KindName, alias: string): string {
  const { columns, isDocument } = kindOf(name);
  if (isDocument) return `${alias}.record`;
  return `${objectSql({ ...membersOf(columns, alias), table: `'${name}'::text` })}::text`;
}

function membersOf(columns: Columns, alias: string): Record<string, string> {
  return Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, WRITTEN[type](`${alias}.${name}`)]));
}

/** Orders members as RFC 8785, section 3.2.3, requires. row_to_json writes neither spaces nor line ends. */
function objectSql(members: Record<string, string>): string {
  const sorted = Object.keys(members).sort();
  const list = sorted.map((name) => `${members[name]} AS "${name}"`).join(', ');
  return `(SELECT row_to_json(m) FROM (SELECT ${list}) m)`;
}

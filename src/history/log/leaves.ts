import { Form, KindName, kindOf } from './kinds';

/**
 * The log seals one leaf for each record: the record as canonical JSON (RFC 8785). Documents store this text. For other
 * records, Postgres writes it from the base tables. The database owner could change a view, and no seal would notice.
 */

/** SQL for each form. JSON numbers are doubles, and Postgres does not write JSON columns as RFC 8785 does. */
const WRITTEN = {
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

/** Marks dates before Christ. A year's number does not name its era, so both eras would have the same leaf. */
function ofOurEra(column: string, written: string): string {
  return `CASE WHEN ${column} >= '0001-01-02' AND ${column} < 'infinity' THEN ${written} ELSE ${column}::text END`;
}

/**
 * Returns SQL for the leaf of the row `alias`, as text. A member `table` keeps records of different tables apart. Members
 * are ordered as RFC 8785, section 3.2.3, requires. row_to_json writes neither spaces nor line ends.
 */
export function leafSql(name: KindName, alias: string): string {
  const { columns, later, isDocument } = kindOf(name);
  if (isDocument) return `${alias}.record`;
  const values = new Map(
    Object.entries(columns).map(([column, form]) => [column, WRITTEN[form](`${alias}.${column}`)]),
  );
  values.set('table', `'${name}'::text`);
  const leaves = [...later].reverse().map((added) => {
    const leaf = `WHEN num_nonnulls(${added.map((column) => `${alias}.${column}`).join(', ')}) > 0 THEN ${objectSql(values)}`;
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

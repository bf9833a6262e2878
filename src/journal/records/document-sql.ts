import { Prisma } from '../../platform/database/generated/client';
import { TYPES } from '../../platform/database/rows/binary-array';

/**
 * The value that the database replaces by its own time (`stampedSql`). Quotes within a JSON string are
 * escaped, so no caller's text can look like this member.
 */
export const UNSTAMPED = '';

/** SQL that writes the database's time into a record. */
export const stampedSql = (record: string, time: string) =>
  `replace(${record}, '"recorded_at":""', '"recorded_at":"' || to_char(${time} AT TIME ZONE 'UTC', ` +
  `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"')`;

/** The member that follows `items` in every record. */
const AFTER_ITEMS = { intent: 'key_id', outcome: 'kind' };

/** SQL for the array `items` of a record. Empty without items. Parsing the record takes twice as long. */
export const itemsSql = (table: 'intent' | 'outcome', record: string) =>
  `split_part(split_part(${record}, '"items":', 2), ',"${AFTER_ITEMS[table]}":', 1)`;

/** A column that repeats a member of a record. */
export interface ColumnOfRecord {
  name: string;
  type: keyof typeof TYPES;
}

/** `id, client_id, …` */
export const namesSql = (columns: ColumnOfRecord[]) => columns.map(({ name }) => name).join(', ');

/** `id uuid, client_id uuid, …` */
export const definitionsSql = (columns: ColumnOfRecord[]) =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');

/** Returns the values of columns from the members of a document. */
export function membersIn(document: object, columns: ColumnOfRecord[]): Record<string, unknown> {
  const members = document as Record<string, unknown>;
  return Object.fromEntries(columns.map(({ name }) => [name, members[name] ?? null]));
}

/**
 * Returns a statement that inserts rows.
 * @param rows at least one. Their members are the columns, the same in each row.
 */
export function insertion(table: string, rows: object[]): Prisma.Sql {
  const columns = Prisma.raw(Object.keys(rows[0] ?? {}).join(', '));
  return Prisma.sql`INSERT INTO ${Prisma.raw(table)} (${columns})
    SELECT ${columns}
    FROM json_populate_recordset(NULL::${Prisma.raw(table)}, ${JSON.stringify(rows)}::json)`;
}

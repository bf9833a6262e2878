import { Prisma } from '../platform/database/generated/client';

/**
 * Returns a statement that inserts rows.
 * @param rows at least one. Their members are named like the columns, and are the same in all of them.
 */
export function insertion(table: string, rows: object[]): Prisma.Sql {
  const columns = Prisma.raw(Object.keys(rows[0] ?? {}).join(', '));
  return Prisma.sql`INSERT INTO ${Prisma.raw(table)} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${Prisma.raw(table)}, ${JSON.stringify(rows)}::json)`;
}

import { TestDatabase } from './test-database';

/** Returns the content of a database's tables, each row as text, with bytes decoded as text. */
export async function everythingIn(database: TestDatabase): Promise<Record<string, string>> {
  const tables = await database.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition ORDER BY 1`,
  );
  const all: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await database.query(`SELECT * FROM ${name}`);
    all[name] = rows.map((row) => JSON.stringify(row, asText)).join('\n');
  }
  return all;
}

function asText(_key: string, value: unknown): unknown {
  // Buffers arrive in the form of their toJSON.
  return isBuffer(value) ? Buffer.from(value.data).toString('latin1') : value;
}

function isBuffer(value: unknown): value is { data: number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value
  );
}

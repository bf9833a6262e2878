import { v7 as uuidv7 } from 'uuid';
import { TestDatabase } from './test-database';

/** The lock that a living process holds with its number (src/platform/database/process.service.ts). */
const PROCESS_LOCK = 7_070_003;

/** Makes a process with this number live as long as the test's own connection. */
export function live(database: TestDatabase, process: number): Promise<unknown> {
  return database.query('SELECT pg_advisory_lock($1, $2)', [PROCESS_LOCK, process]);
}

/**
 * Copies a call without its outcome, and with other values in some columns.
 * @returns the ID of the copy.
 */
export async function copyIntent(
  database: TestDatabase,
  id: string,
  changes: Record<string, unknown>,
): Promise<string> {
  const copy = uuidv7();
  const rows = { intent: { id: copy, received_at: new Date(), ...changes }, others: { intent_id: copy } };
  const insert = (table: string, key: string, changed: string) => `
    INSERT INTO ${table} SELECT (jsonb_populate_record(original,
      $2::jsonb -> '${changed}' || jsonb_build_object('tx', pg_current_xact_id()::text))).* FROM ${table} original WHERE ${key} = $1`;
  const others = ['intent_body', 'intent_item', 'item_recipient'];
  // In one statement, as the proxy does, so that readers see all of its rows or none.
  await database.query(
    `WITH ${others.map((table) => `${table}s AS (${insert(table, 'intent_id', 'others')})`).join(', ')}
     ${insert('intent', 'id', 'intent')}`,
    [id, JSON.stringify(rows)],
  );
  return copy;
}

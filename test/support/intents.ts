import { v7 as uuidv7 } from 'uuid';
import { TestDatabase } from './test-database';

/** The lock that a living process holds with its number (src/database/process.service.ts). */
const PROCESS_LOCK = 7_070_003;

/** Makes a process of this number live, as long as the test's own connection does. */
export function live(database: TestDatabase, process: number): Promise<unknown> {
  return database.query('SELECT pg_advisory_lock($1, $2)', [PROCESS_LOCK, process]);
}

/**
 * Copies a call that was made, without what came of it, and with other values in some columns.
 * @returns the id of the copy.
 */
export async function copyIntent(
  database: TestDatabase,
  id: string,
  changes: Record<string, unknown>,
): Promise<string> {
  const copy = uuidv7();
  const insert = (table: string, key: string, changed: Record<string, unknown>) =>
    database.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(original,
         $2::jsonb || jsonb_build_object('tx', pg_current_xact_id()::text))).* FROM ${table} original WHERE ${key} = $1`,
      [id, JSON.stringify({ [key]: copy, ...changed })],
    );
  await insert('intent', 'id', { received_at: new Date(), ...changes });
  await insert('intent_body', 'intent_id', {});
  await insert('intent_item', 'intent_id', {});
  await insert('item_recipient', 'intent_id', {});
  return copy;
}

import { TestDatabase } from './test-database';

/**
 * Makes a call look as if it had been received this many hours earlier. It was recorded and answered when it was.
 * @returns its ID, which says when it was received.
 */
export async function receivedEarlier(database: TestDatabase, callId: string, hours: number): Promise<string> {
  const then = (Date.now() - hours * 3_600_000).toString(16).padStart(12, '0');
  const old = `${then.slice(0, 8)}-${then.slice(8)}${callId.slice(13)}`;
  await update(database, 'intent', 'id = $2', 'id = $1', [callId, old]);
  await update(database, 'outcome', 'intent_id = $2', 'intent_id = $1', [callId, old]);
  await database.query('UPDATE recent_content SET intent_id = $2 WHERE intent_id = $1', [callId, old]);
  return old;
}

/** Makes an outcome look as if it had been recorded earlier. */
export async function answeredEarlier(database: TestDatabase, callId: string, interval: string): Promise<void> {
  await update(database, 'outcome', 'recorded_at = recorded_at - $2::interval', 'intent_id = $1', [callId, interval]);
}

/** Changes a record, which only the owner of the tables can. */
async function update(database: TestDatabase, table: string, change: string, which: string, values: unknown[]) {
  await database.query(`ALTER TABLE ${table} DISABLE TRIGGER refuse_change`);
  await database.query(`UPDATE ${table} SET ${change} WHERE ${which}`, values);
  await database.query(`ALTER TABLE ${table} ENABLE TRIGGER refuse_change`);
}

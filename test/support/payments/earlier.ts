import { TestDatabase } from '../databases/test-database';
import { editRecord } from '../records/documents';
import { eventually } from './paying';

/**
 * Makes a call appear to be received this many hours earlier. The times of its record and answer stay.
 * @returns its ID, which contains the time of receipt.
 */
export async function receivedEarlier(
  database: TestDatabase,
  callId: string,
  hours: number,
): Promise<string> {
  await hasBeaten(database);
  const then = (Date.now() - hours * 3_600_000).toString(16).padStart(12, '0');
  const old = `${then.slice(0, 8)}-${then.slice(8)}${callId.slice(13)}`;
  await editRecord(database, 'intent', callId, (record) => ({ ...record, id: old }));
  await editRecord(database, 'outcome', callId, (record) => ({ ...record, intent_id: old }));
  await database.query('UPDATE recent_content SET intent_id = $2 WHERE intent_id = $1', [callId, old]);
  return old;
}

/**
 * Waits until every instance has seen a heartbeat that began later. Before that, an instance looks for its
 * newest calls on each new connection, and would mistake a database without one for an old one.
 */
async function hasBeaten(database: TestDatabase): Promise<void> {
  const beats = () =>
    database.query<{ id: string; beat: number }>(
      'SELECT id::text, beat::integer AS beat FROM instance WHERE beat_at > clock_timestamp() - ' +
        "interval '10 s'",
    );
  const before = await beats();
  await eventually(async () => {
    const after = new Map((await beats()).map(({ id, beat }) => [id, beat]));
    return before.every(({ id, beat }) => (after.get(id) ?? Infinity) >= beat + 2);
  });
}

/** Makes a call appear to be recorded an hour earlier. */
export async function recordedEarlier(database: TestDatabase, callId: string): Promise<void> {
  await editRecord(database, 'intent', callId, (record) => ({
    ...record,
    recorded_at: earlier(record.recorded_at, 1),
  }));
}

/** Makes an outcome appear to be recorded this many hours earlier. */
export async function answeredEarlier(database: TestDatabase, callId: string, hours: number): Promise<void> {
  await editRecord(database, 'outcome', callId, (record) => ({
    ...record,
    recorded_at: earlier(record.recorded_at, hours),
  }));
}

function earlier(instant: string | undefined, hours: number): string {
  return new Date(Date.parse(instant ?? '') - hours * 3_600_000).toISOString();
}

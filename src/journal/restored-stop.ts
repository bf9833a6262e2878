import { Client } from 'pg';
import { newId } from '../platform/database/ids';

/**
 * Stops everything in a database that was restored from a backup, until it has been recovered and a person lifts the stop.
 * In the transaction that restores the rows, nobody can pay before.
 * @param reason what operators read.
 * @param actor who restored it: a user of the operating system.
 * @returns the ID of the stop.
 */
export async function stopRestored(client: Client, reason: string, actor: string | null): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `WITH active AS (
       SELECT id FROM stop WHERE cause = 'database_behind' AND epoch = (SELECT max(number) FROM epoch)
         AND NOT EXISTS (SELECT FROM stop_lift WHERE stop_id = stop.id)
     ), added AS (
       INSERT INTO stop (id, reason, cause, epoch, actor)
       SELECT $1, $2, 'database_behind', (SELECT max(number) FROM epoch), $3 WHERE NOT EXISTS (SELECT FROM active) RETURNING id
     )
     SELECT id FROM added UNION ALL SELECT id FROM active LIMIT 1`,
    [newId(), reason, actor],
  );
  return rows[0]?.id ?? '';
}

import { v7 as uuidv7 } from 'uuid';
import { IntentDocument } from '../../../src/journal/records/documents';
import { PersonDocument, recipientsCommitment } from '../../../src/journal/records/recipients';
import { LOCKS } from '../../../src/platform/database/locks';
import { TestDatabase } from '../databases/test-database';
import { insertion, intentText, PartialRecord } from './documents';

/** Keeps a process with this number alive for the lifetime of the test's own connection. */
export function live(database: TestDatabase, process: number): Promise<unknown> {
  return database.query('SELECT pg_advisory_lock($1, $2)', [LOCKS.process, process]);
}

const KEY = ', idempotency_key, idempotency_key_salt';

/**
 * Copies a call without its outcome, and with other values of some members. Null omits a member.
 * @returns the ID of the copy.
 */
export async function copyIntent(
  database: TestDatabase,
  id: string,
  changes: { [Name in keyof IntentDocument]?: IntentDocument[Name] | Date | null },
): Promise<string> {
  const copy = uuidv7();
  const [original] = await database.query<{ record: string; people: string | null; salt: Buffer | null }>(
    `SELECT i.record, b.people, b.people_salt AS salt
     FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id WHERE i.id = $1`,
    [id],
  );
  const document = JSON.parse(original?.record ?? '{}') as IntentDocument;
  if (original?.people && document.recipients_commitment !== undefined) {
    const stored = { people: JSON.parse(original.people) as PersonDocument[], peopleSalt: original.salt };
    document.recipients_commitment = recipientsCommitment(copy, stored)?.toString('hex');
  }
  const changed = Object.entries({ id: copy, received_at: new Date(), ...changes })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [
      name,
      name.endsWith('_at') ? new Date(value as string | Date).toISOString() : value,
    ]);
  const changesKey = 'idempotency_key_commitment' in changes;
  const left = Object.entries(document).filter(([name]) => !(name in changes));
  const text = intentText({
    ...Object.fromEntries(left),
    ...Object.fromEntries(changed),
  } as PartialRecord<IntentDocument>);
  // In one statement, like the proxy, so that readers see all of its rows or none.
  await database.query(
    `WITH beside AS (
       INSERT INTO intent_body (intent_id, salt, body, coding, people, people_salt${changesKey ? '' : KEY})
       SELECT $1, salt, body, coding, people, people_salt${changesKey ? '' : KEY}
       FROM intent_body WHERE intent_id = $2
     ) ${insertion('intent', '$3')}`,
    [copy, id, [text]],
  );
  return copy;
}

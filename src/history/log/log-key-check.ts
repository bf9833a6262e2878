import { ClientBase } from 'pg';
import { StartError } from '../../platform/config/config';
import { ServerClient } from '../../platform/database/servers/server-client';
import { readHead } from './head';
import { currentOf, KeyRing, Signer } from './note';

const FIRST_AND_LAST = `
  (SELECT note FROM checkpoint ORDER BY size LIMIT 1)
  UNION ALL (SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1)`;

/**
 * Requires that the keys can continue the log of a database, and verify its beginning.
 * @throws StartError that explains how to change a key.
 */
export async function requireLogKeys(databaseUrl: string, ring: KeyRing): Promise<void> {
  const db = new ServerClient({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await db.connect();
  try {
    const { rows } = await db.query<{ note: string }>(FIRST_AND_LAST);
    const [oldest, newest] = rows.map(({ note }) => signersOf(note, ring));
    if (!oldest || !newest) return;
    if (!currentOf(ring, newest)) throw new StartError(tooEarly(newest.length > 0));
    if (oldest.length === 0) {
      throw new StartError(
        'the first checkpoint of the log is signed by a key that is not configured. List the earlier ' +
          'verifier keys of the log in LOG_RETIRED_KEYS.',
      );
    }
  } finally {
    await db.end();
  }
}

function tooEarly(isRetired: boolean): string {
  const by = isRetired ? 'only by a key in LOG_RETIRED_KEYS' : 'by none of its keys';
  return (
    `the newest checkpoint of the log is signed ${by}, so LOG_SIGNING_KEY cannot continue the log. Set ` +
    'LOG_SIGNING_KEY to <new key>,<previous key> on all instances. Drop the previous key once a checkpoint ' +
    'is signed by both.'
  );
}

/** Returns the signers of a note. Empty if none of the keys signed it. */
function signersOf(note: string, ring: KeyRing) {
  try {
    return readHead(note, ring).signers;
  } catch {
    return [];
  }
}

/** Returns the newest checkpoint of a database. Undefined before the first. */
export async function newestNote(db: ClientBase): Promise<string | undefined> {
  const { rows } = await db.query<{ note: string }>('SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1');
  return rows[0]?.note;
}

/**
 * Returns the newest current key that may continue a log: a signer of its newest checkpoint, or any key
 * before the first one. Undefined if none may.
 */
export function signerAfter(note: string | undefined, ring: KeyRing<Signer>): Signer | undefined {
  if (note === undefined) return ring.current[0];
  try {
    return currentOf(ring, readHead(note, ring).signers);
  } catch {
    return undefined;
  }
}

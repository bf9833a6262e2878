import { ClientBase } from 'pg';
import { readHead } from './head';
import { currentOf, KeyRing } from './key-ring';
import { Signer } from './note';

/** Returns the newest checkpoint of a database. Undefined before the first. */
export async function newestNote(db: ClientBase): Promise<string | undefined> {
  const { rows } = await db.query<{ note: string }>('SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1');
  return rows[0]?.note;
}

/**
 * Returns the newest current key that may continue a log after its newest checkpoint, because it has signed it. Before the
 * first checkpoint, any key may. Undefined if none may.
 */
export function signerAfter(note: string | undefined, ring: KeyRing<Signer>): Signer | undefined {
  if (note === undefined) return ring.current[0];
  try {
    return currentOf(ring, readHead(note, ring).signers);
  } catch {
    return undefined;
  }
}

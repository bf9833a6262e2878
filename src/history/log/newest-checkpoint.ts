import { ClientBase } from 'pg';
import { openNote, Signer } from './note';

/**
 * Returns whether a key has signed the newest checkpoint of a database, so that it may go on with its log. Before the first
 * checkpoint, any may.
 */
export async function signedNewest(db: ClientBase, signer: Signer | undefined): Promise<boolean> {
  const { rows } = await db.query<{ note: string }>('SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1');
  const [newest] = rows;
  if (!newest) return true;
  if (!signer) return false;
  try {
    openNote(newest.note, signer);
    return true;
  } catch {
    return false;
  }
}

import { Client } from 'pg';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { KeyRing, Signer } from '../log/note';
import { Erasure, signRecord } from '../log/signed-records';

/** Author and reason of an erasure or pruning. */
export interface RemovalRequest {
  reason: string;
  actor: string | null;
  signer: Signer;
  /** All keys of the log. */
  ring: KeyRing;
}

/**
 * Erases in one transaction, and records the emptied places.
 * @param request null for a dry run.
 * @returns the erased data, with the ID of the record. Null if nothing was erased, and for a dry run.
 */
export async function recordedErasure<Found extends { places: string[] }>(
  db: Client,
  kind: Erasure['kind'],
  request: RemovalRequest | null,
  remove: () => Promise<Found>,
): Promise<Found & { id: string | null }> {
  await db.query('BEGIN');
  try {
    const found = await remove();
    const done = request && found.places.length > 0;
    const id = done ? await record(db, kind, found.places, request) : null;
    await db.query(done ? 'COMMIT' : 'ROLLBACK');
    return { id, ...found };
  } catch (error) {
    await db.query('ROLLBACK');
    throw error;
  }
}

async function record(
  db: Client,
  kind: Erasure['kind'],
  places: string[],
  { reason, actor, signer }: RemovalRequest,
): Promise<string> {
  const erasure: Erasure = { id: newId(), kind, reason, actor, places, erased_at: clock.now() };
  await db.query(
    `INSERT INTO erasure (id, kind, reason, actor, places, erased_at, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [erasure.id, kind, reason, actor, places, erasure.erased_at, signRecord(signer, 'erasure', erasure)],
  );
  return erasure.id;
}

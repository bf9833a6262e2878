import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';

/** Age of the oldest ephemeral key that may be valid: 15 minutes, plus a margin for clock skew. */
const OLDEST_EPHEMERAL_MS = 3_600_000;

/**
 * Revokes all renewable credentials: sessions and ephemeral keys. A restored database does not know which of
 * them have ended since. Access tokens are refused by the start of the epoch (token-callers.service.ts).
 * Running instances may remember persons that this database never had, so they look up their callers again.
 * @param at the time of the restore.
 */
export async function endCredentials(tx: Prisma.TransactionClient, at: Date): Promise<void> {
  const oldest = uuidFloor(new Date(at.getTime() - OLDEST_EPHEMERAL_MS));
  // Clients first, in the lock order of admission.
  await tx.$executeRaw`
    WITH locked AS MATERIALIZED (SELECT id FROM client ORDER BY id FOR NO KEY UPDATE)
    UPDATE client SET name = name FROM locked WHERE client.id = locked.id`;
  await tx.$executeRaw`DELETE FROM console_session`;
  await tx.$executeRaw`DELETE FROM page_session`;
  await tx.$executeRaw`
    UPDATE ephemeral_key SET revoked_at = now()
    WHERE id >= ${oldest}::uuid AND revoked_at IS NULL AND now() < expires_at`;
}

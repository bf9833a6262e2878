import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';

/** No ephemeral key is valid for longer than 15 minutes after it was made. Clocks differ. */
const OLDEST_EPHEMERAL_MS = 3_600_000;

/**
 * Ends all credentials that people get anew by themselves: sessions and ephemeral keys. A database that came back from the past
 * does not know which of them have ended since. Access tokens are refused by the time of the epoch (token-row.ts). Instances
 * that kept running look up their callers again, because they remember persons whom this database may never have had.
 * @param at when the database came back.
 */
export async function endCredentials(tx: Prisma.TransactionClient, at: Date): Promise<void> {
  const oldest = uuidFloor(new Date(at.getTime() - OLDEST_EPHEMERAL_MS));
  // The clients first, in the order of admission.
  await tx.$executeRaw`
    WITH locked AS MATERIALIZED (SELECT id FROM client ORDER BY id FOR NO KEY UPDATE)
    UPDATE client SET name = name FROM locked WHERE client.id = locked.id`;
  await tx.$executeRaw`DELETE FROM console_session`;
  await tx.$executeRaw`DELETE FROM page_session`;
  await tx.$executeRaw`
    UPDATE ephemeral_key SET revoked_at = now() WHERE id >= ${oldest}::uuid AND revoked_at IS NULL AND now() < expires_at`;
}

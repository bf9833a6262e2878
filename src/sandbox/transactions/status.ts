import { Behaviour } from '../behaviour';
import { Database, Work } from '../database';
import { Prisma, Transaction } from '../generated/client';

/** A transaction that was deleted stays, so that its history does, and is shown to nobody. */
export const DELETED = 'deleted';

/** What callers may see. */
export const NOT_DELETED = { status: { not: DELETED } };

/**
 * Changes the status of those that still have the one before: of two changes that meet, the second finds nothing left to
 * do. All rows are locked before the first is changed, in order of id, so that changes that cross do not lock each other
 * out (see `post` for the whole order of locks). Triggers write `status_changes`.
 * @returns what was changed.
 */
export async function changeStatus(
  work: Work,
  ids: string[],
  change: { from: string; to: string; redeemData?: Prisma.InputJsonObject },
): Promise<Transaction[]> {
  await work.$executeRaw`SELECT FROM transactions WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  return work.transaction.updateManyAndReturn({
    where: { id: { in: ids }, status: change.from },
    data: { status: change.to, ...(change.redeemData && { redeemData: change.redeemData }) },
  });
}

/**
 * Expires what has been unpaid for too long; asked for before each look at a status, and by the sweeper, so that nobody
 * sees or pays what is overdue. The same order of locks as above.
 */
export async function expireOverdue(database: Database, behaviour: Behaviour): Promise<void> {
  const issuedUntil = new Date(Date.now() - behaviour.unpaidExpiresAfterMs);
  await database.$executeRaw`
    UPDATE transactions SET status = 'expired'
    WHERE status = 'unpaid' AND id IN (
      SELECT id FROM transactions WHERE status = 'unpaid' AND issue_date <= ${issuedUntil} ORDER BY id FOR UPDATE
    )`;
}

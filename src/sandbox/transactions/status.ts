import { Behaviour } from '../behaviour/behaviour';
import type { Words } from '../behaviour/lies';
import { Database, Work } from '../database';
import { Prisma, Transaction } from '../generated/client';
import type { Money } from './money';

/** The status of a deleted transaction. It is kept for its history, and callers never see it. */
export const DELETED = 'deleted';

/** Selects the transactions that callers can see. */
export const NOT_DELETED = { status: { not: DELETED } };

/**
 * Changes the status of transactions that still have the expected one. Of two concurrent changes, the second
 * changes nothing. All rows are locked before the first change, in order of ID, so that concurrent changes
 * cannot deadlock (see `post` for the whole order of locks). Triggers write `status_changes`.
 * @returns the changed transactions.
 */
export async function changeStatus(
  work: Work,
  ids: string[],
  change: { from: string; to: string; redeemData?: Prisma.InputJsonObject; money?: Money },
): Promise<Transaction[]> {
  const { from, to, ...others } = change;
  await work.$executeRaw`SELECT FROM transactions WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  return work.transaction.updateManyAndReturn({
    where: { id: { in: ids }, status: from },
    data: { status: to, ...others },
  });
}

/**
 * Expires transactions that have been unpaid for too long. It runs before each read of a status, and in the
 * sweeper, so that nobody sees or pays an overdue one. The order of locks is the same as above.
 */
export async function expireOverdue(database: Database, behaviour: Behaviour): Promise<void> {
  const issuedUntil = new Date(Date.now() - behaviour.unpaidExpiresAfterMs);
  await database.$executeRaw`
    UPDATE transactions SET status = 'expired'
    WHERE status = 'unpaid' AND id IN (
      SELECT id FROM transactions WHERE status = 'unpaid' AND issue_date <= ${issuedUntil} ORDER BY id
        FOR UPDATE
    )`;
}

/** The newer status words of answers and events (docs/reference/upstream.md, "Transaction record"). */
const NEW_STATUS_WORDS = new Map([
  ['unpaid', 'PENDING'],
  ['pending', 'PENDING'],
  ['paid', 'SUCCESSFUL'],
  ['redeemed', 'completed'],
  ['expired', 'CANCELLED'],
  ['failed', 'FAILED'],
  ['fraud', 'FAILED'],
]);

/**
 * Returns the word that is shown for a status: the one that the settings name, or the newer one, or the
 * status.
 */
export function shownStatus(status: string, quirks: Behaviour['quirks'], words: Words): string {
  const named = Object.hasOwn(words, status) ? words[status] : undefined;
  return named ?? (quirks.newStatusWords ? NEW_STATUS_WORDS.get(status) : undefined) ?? status;
}

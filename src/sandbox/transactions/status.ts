import { Behaviour } from '../behaviour/behaviour';
import type { StatusWords } from '../behaviour/lies';
import { Database, Work } from '../database';
import { Prisma, Transaction } from '../generated/client';
import type { Money } from './money';

/** Status of a deleted transaction, which is kept for its history and hidden from callers. */
export const DELETED = 'deleted';

/** Selects the transactions that callers can see. */
export const NOT_DELETED = { status: { not: DELETED } };

/**
 * Changes the status of transactions that still have the status `from`. Locks all rows first, in order of ID,
 * so that concurrent changes cannot deadlock (see `post` for all locks). Triggers write `status_changes`.
 * @returns the changed transactions: none for the second of two concurrent changes.
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
 * Expires transactions that have been unpaid for too long. Runs before each read of a status and in the
 * sweeper, so that no caller sees or pays an overdue one. The order of locks is that of `changeStatus`.
 */
export async function expireOverdue(database: Database, behaviour: Behaviour): Promise<void> {
  const issuedUntil = new Date(Date.now() - behaviour.unpaidExpiresAfterMs);
  await database.$executeRaw`
    UPDATE transactions SET status = 'expired'
    WHERE status = 'unpaid' AND id IN (
      SELECT id FROM transactions
      WHERE status = 'unpaid' AND issue_date <= ${issuedUntil}
      ORDER BY id FOR UPDATE
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

/** Returns the shown word of a status: from the settings, else the newer word if enabled, else the status. */
export function shownStatus(status: string, quirks: Behaviour['quirks'], words: StatusWords): string {
  const named = Object.hasOwn(words, status) ? words[status] : undefined;
  return named ?? (quirks.newStatusWords ? NEW_STATUS_WORDS.get(status) : undefined) ?? status;
}

import { Behaviour } from '../behaviour';
import { Database, Work } from '../database';
import { Transaction } from '../generated/client';
import { entryFor, Money, moneyUnder, moveMoney } from './money';
import { DELETED } from './status';

/** A change of a transaction that only the control interface can make. */
export interface AskedChange {
  /** Any word. Default: the one that it has. */
  status?: string;
  /** Where its value is afterwards. Default: where an honest service keeps it under this status. */
  money?: Money;
  /** Whether its fee comes back with the value. Default: the setting. */
  returnsFee?: boolean;
}

/**
 * Changes a transaction by its `id` or `chiRef` at once, and books its wallet. Returns false if there is none, or if it
 * is deleted.
 */
export function changeNow(
  database: Database,
  behaviour: Behaviour,
  name: string,
  { status, money, returnsFee = behaviour.returnsFee }: AskedChange,
): Promise<boolean> {
  return database.$transaction(async (work) => {
    const transaction = await lock(work, name);
    if (!transaction || transaction.status === DELETED) return false;
    if (status !== undefined) await work.transaction.update({ where: { id: transaction.id }, data: { status } });
    const word = status ?? transaction.status;
    const to = money ?? (status === undefined ? undefined : moneyUnder(word, transaction));
    if (to) await moveMoney(work, transaction, { to, description: entryFor(transaction, word), returnsFee });
    return true;
  });
}

/** Locks the row, so that a concurrent change is seen. The order of locks is that of `changeStatus`. */
export async function lock(work: Work, name: string): Promise<Transaction | null> {
  const named = { OR: [{ id: name }, { chiRef: name }] };
  const found = await work.transaction.findFirst({ where: named, select: { id: true } });
  if (!found) return null;
  await work.$executeRaw`SELECT FROM transactions WHERE id = ${found.id} FOR UPDATE`;
  return work.transaction.findUnique({ where: { id: found.id } });
}

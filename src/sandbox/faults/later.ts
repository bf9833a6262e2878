import { Work } from '../database';
import { MAGIC, magicOf, Recipient } from '../magic-recipients';
import type { Struck } from './faults';
import { isFaultName, rowOf } from './table';

/** Items that never cost anything have nothing to give back. */
const OVER = ['failed', 'fraud', 'deleted'];

/**
 * Schedules the change that a fault makes to the transactions of its request, in the work that carries the request out.
 * A fault of a magic recipient changes the transactions of such recipients only, each as its own recipient says.
 */
export async function changeLater(work: Work, struck: Struck | undefined, chiRefs: string[]): Promise<void> {
  if (!struck || rowOf(struck.fault).becomesLater === undefined) return;
  const { ms = 0 } = struck.settings;
  const dueAt = new Date(Date.now() + ms);
  const transactions = await work.transaction.findMany({
    where: { chiRef: { in: chiRefs }, status: { notIn: OVER } },
  });
  const changes = transactions.flatMap(({ id, status, ...recipient }) => {
    const toStatus = struck.isMagic ? laterOf(recipient) : rowOf(struck.fault).becomesLater;
    return toStatus === undefined ? [] : [{ transactionId: id, fromStatus: status, toStatus, dueAt }];
  });
  await work.dueChange.createMany({ data: changes, skipDuplicates: true });
}

function laterOf(recipient: Recipient): string | undefined {
  const name = magicOf(recipient);
  const row = name && MAGIC[name];
  return row && 'fault' in row && isFaultName(row.fault) ? rowOf(row.fault).becomesLater : undefined;
}

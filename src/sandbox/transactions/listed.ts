import { Call } from '../call';
import { Database } from '../database';
import { Prisma, Transaction } from '../generated/client';
import { LISTED_TYPES } from '../lies';
import { DELETED, NOT_DELETED } from './status';

/** Returns the account's transactions that lists show now, newest first. The settings can make them lie. */
export async function listedTransactions(
  { account, behaviour, database }: Pick<Call, 'account' | 'behaviour' | 'database'>,
  where: Prisma.TransactionWhereInput = {},
): Promise<Transaction[]> {
  const { newest, frozenAt, withoutTypes } = behaviour.lists.transactions;
  const at = frozenAt === null ? new Date() : new Date(frozenAt);
  const { listedAfterMs } = behaviour;
  const late = LISTED_TYPES.filter((type) => listedAfterMs[type] > 0);
  const hidden = [
    { type: { in: withoutTypes } },
    ...late.map((type) => ({ type, issueDate: { gt: new Date(at.getTime() - listedAfterMs[type]) } })),
  ];
  const shown = { issuerId: account.id, ...where, NOT: hidden };
  const now = frozenAt === null ? NOT_DELETED : { issueDate: { lte: at } };
  const found = await database.transaction.findMany({ where: { ...shown, ...now }, orderBy: { seq: 'desc' } });
  const listed = frozenAt === null ? found : await asThen(database, found, at);
  return newest === null ? listed : listed.slice(0, newest);
}

/** Gives transactions the status that they had at a time. Leaves out those that were deleted by then. */
async function asThen(database: Database, transactions: Transaction[], at: Date): Promise<Transaction[]> {
  const rows = await database.$queryRaw<{ id: string; status: string }[]>`
    SELECT DISTINCT ON (transaction_id) transaction_id AS id, status FROM status_changes
    WHERE transaction_id = ANY(${transactions.map(({ id }) => id)}) AND changed_at <= ${at}
    ORDER BY transaction_id, id DESC`;
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return transactions.flatMap((transaction) => {
    const status = statuses.get(transaction.id) ?? DELETED;
    if (status === DELETED) return [];
    return [{ ...transaction, status, redeemData: status === transaction.status ? transaction.redeemData : null }];
  });
}

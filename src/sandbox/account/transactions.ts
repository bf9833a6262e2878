import { LISTED_TYPES } from '../behaviour/lies';
import { Database } from '../database';
import { Prisma, Transaction } from '../generated/client';
import { Call, Routes } from '../http/call';
import { NOT_FOUND, Refusal } from '../http/envelope';
import { fieldsOf, readText } from '../http/validation';
import { transactionRecord } from '../transactions/record';
import { changeStatus, DELETED, expireOverdue, NOT_DELETED } from '../transactions/status';

export const transactionRoutes = {
  'POST /account/delete-unpaid-transaction': deleteUnpaidTransaction,
  'GET /account/transaction': readTransaction,
  'POST /account/transactions': listTransactions,
  'POST /account/issue-id-transactions': listIssueTransactions,
} satisfies Routes;

/** GET /account/transaction?id= */
export async function readTransaction(call: Call, query: unknown) {
  const id = readText(fieldsOf(query).id, 'id');
  await expireOverdue(call.database, call.behaviour);
  const own = { id, issuerId: call.account.id, ...NOT_DELETED };
  const transaction = await call.database.transaction.findUnique({ where: own });
  return transaction ? transactionRecord(transaction, call.origin) : NOT_FOUND;
}

/** POST /account/transactions: all transactions of the account, newest first. The upstream has no paging. */
async function listTransactions(call: Call) {
  await expireOverdue(call.database, call.behaviour);
  const transactions = await listedTransactions(call);
  return transactions.map((transaction) => transactionRecord(transaction, call.origin));
}

/** POST /account/issue-id-transactions?issueID=: the transactions of one batch, in the order of its items. */
async function listIssueTransactions(call: Call, query: unknown) {
  const issueID = readText(fieldsOf(query).issueID, 'issueID');
  await expireOverdue(call.database, call.behaviour);
  const transactions = await listedTransactions(call, { issueID });
  if (transactions.length === 0) return NOT_FOUND;
  return transactions.reverse().map((transaction) => transactionRecord(transaction, call.origin));
}

/** POST /account/delete-unpaid-transaction: hides the transaction, and answers with its last state. */
export async function deleteUnpaidTransaction(call: Call, body: unknown) {
  const { account, database, behaviour } = call;
  const chiRef = readText(fieldsOf(body).chiRef, 'chiRef');
  await expireOverdue(database, behaviour);
  const own = { chiRef, issuerId: account.id, ...NOT_DELETED };
  const transaction = await database.transaction.findUnique({ where: own });
  if (!transaction) throw new Refusal(`no transaction found for chiRef ${chiRef}`);

  const { id, issueDate, issueID, status, issuerId } = transaction;
  if (status !== 'unpaid') throw notUnpaid(chiRef, status);
  await database.$transaction(async (work) => {
    const deleted = await changeStatus(work, [id], { from: 'unpaid', to: DELETED });
    if (deleted.length === 0) throw notUnpaid(chiRef, 'no longer unpaid'); // Changed since the read.
    await call.processed(work, [chiRef]);
  });
  return { id, issueDate: issueDate.toISOString(), issueID, chiRef, status, issuer: issuerId };
}

function notUnpaid(chiRef: string, status: string): Refusal {
  return new Refusal(`transaction with chiRef ${chiRef} is ${status}, only an unpaid one can be deleted`);
}

/** Returns the account's transactions as its lists show them, newest first, with the configured lies. */
async function listedTransactions(
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
  const found = await database.transaction.findMany({
    where: { ...shown, ...now },
    orderBy: { seq: 'desc' },
  });
  const listed = frozenAt === null ? found : await asOf(database, found, at);
  return newest === null ? listed : listed.slice(0, newest);
}

/** Returns transactions with their status at `at`, without those deleted by then. */
async function asOf(database: Database, transactions: Transaction[], at: Date): Promise<Transaction[]> {
  const rows = await database.$queryRaw<{ id: string; status: string }[]>`
    SELECT DISTINCT ON (transaction_id) transaction_id AS id, status
    FROM status_changes
    WHERE transaction_id = ANY(${transactions.map(({ id }) => id)}) AND changed_at <= ${at}
    ORDER BY transaction_id, id DESC`;
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return transactions.flatMap((transaction) => {
    const status = statuses.get(transaction.id) ?? DELETED;
    if (status === DELETED) return [];
    const redeemData = status === transaction.status ? transaction.redeemData : null;
    return [{ ...transaction, status, redeemData }];
  });
}

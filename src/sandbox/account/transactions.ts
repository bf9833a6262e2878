import { Call, Routes } from '../call';
import { NOT_FOUND, Refusal } from '../envelope';
import { transactionRecord } from '../transactions/record';
import { listedTransactions } from '../transactions/listed';
import { changeStatus, DELETED, expireOverdue, NOT_DELETED } from '../transactions/status';
import { fieldsOf, readText } from '../validation';

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

/**
 * POST /account/transactions: all transactions of the account, newest first. The upstream has no paging, so the list is
 * complete.
 */
export async function listTransactions(call: Call) {
  await expireOverdue(call.database, call.behaviour);
  const transactions = await listedTransactions(call);
  return transactions.map((transaction) => transactionRecord(transaction, call.origin));
}

/** POST /account/issue-id-transactions?issueID=: the transactions of one batch, in its order. */
async function listIssueTransactions(call: Call, query: unknown) {
  const issueID = readText(fieldsOf(query).issueID, 'issueID');
  await expireOverdue(call.database, call.behaviour);
  const transactions = await listedTransactions(call, { issueID });
  if (transactions.length === 0) return NOT_FOUND;
  return transactions.reverse().map((transaction) => transactionRecord(transaction, call.origin));
}

/**
 * POST /account/delete-unpaid-transaction: hides the transaction from everybody afterwards, and answers with its last
 * state.
 */
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
    if (deleted.length === 0) throw notUnpaid(chiRef, 'no longer unpaid'); // It has changed since it was read.
    await call.processed(work, [chiRef]);
  });
  return { id, issueDate: issueDate.toISOString(), issueID, chiRef, status, issuer: issuerId };
}

function notUnpaid(chiRef: string, status: string): Refusal {
  return new Refusal(`transaction with chiRef ${chiRef} is ${status}, only an unpaid one can be deleted`);
}

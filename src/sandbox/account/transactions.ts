import { Refusal } from '../envelope';
import { Call } from '../call';
import { transactionRecord } from '../transactions/record';
import { fieldsOf, readText } from '../validation';

/** GET /account/transaction?id=. An unknown id is a *success* that says otherwise; upstream-observed.md, trap 2. */
export async function readTransaction({ account, database }: Call, query: unknown): Promise<object> {
  const id = readText(fieldsOf(query).id, 'id');
  const transaction = await database.transaction.findUnique({ where: { id, issuerId: account.id } });
  return transaction ? transactionRecord(transaction) : { error: 'not found for that id' };
}

/** POST /account/delete-unpaid-transaction: the transaction is gone afterwards; the answer is what it was. */
export async function deleteUnpaidTransaction({ account, database }: Call, body: unknown): Promise<object> {
  const chiRef = readText(fieldsOf(body).chiRef, 'chiRef');
  const transaction = await database.transaction.findUnique({ where: { chiRef, issuerId: account.id } });
  if (!transaction) throw new Refusal(`no transaction found for chiRef ${chiRef}`);

  // Asked again in the delete itself: it may have been paid, or deleted, since it was read.
  const unpaid = { chiRef, issuerId: account.id, status: 'unpaid' };
  const { count: deleted } = await database.transaction.deleteMany({ where: unpaid });
  if (deleted === 0) throw new Refusal(`transaction with chiRef ${chiRef} is not unpaid`);

  const { id, issueDate, issueID, status, issuerId } = transaction;
  return { id, issueDate: issueDate.toISOString(), issueID, chiRef, status, issuer: issuerId };
}

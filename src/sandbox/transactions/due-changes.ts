import Decimal from 'decimal.js';
import { receivePayment } from '../collections/receive-payment';
import { Database, Work } from '../database';
import { Transaction } from '../generated/client';
import { post } from '../wallets/ledger';
import { PAID_FROM_AND_TO, PayoutType } from './payout-types';
import { changeStatus } from './status';

const AT_ONCE = 100; // The limit of one pass, so that it ends.

/** Applies the status changes that are due at `now`. */
export async function applyDueChanges(database: Database, now: Date): Promise<void> {
  const due = { where: { dueAt: { lte: now } }, orderBy: { dueAt: 'asc' }, take: AT_ONCE } as const;
  for (const { transactionId } of await database.dueChange.findMany(due))
    await database.$transaction((work) => applyDueChange(work, transactionId));
}

/** Happens once, even if two sandboxes share a database: whichever deletes the row makes the change. */
async function applyDueChange(work: Work, transactionId: string): Promise<void> {
  const [due] = await work.$queryRaw<{ from: string; to: string }[]>`
    DELETE FROM due_changes WHERE transaction_id = ${transactionId} RETURNING from_status AS from, to_status AS to`;
  if (!due) return;
  // A transaction that its recipient has redeemed meanwhile stays redeemed, because its value is gone.
  const [changed] = await changeStatus(work, [transactionId], due);
  if (!changed) return;
  if (due.from === 'paid' && due.to === 'failed') await payBack(work, changed);
  if (changed.type === 'payment' && due.to === 'paid') await receivePayment(work, changed);
}

async function payBack(work: Work, { type, issueID, issuerId, valueInUSD, fee }: Transaction): Promise<void> {
  const { wallet, account } = PAID_FROM_AND_TO[type as PayoutType];
  await post(work, `reversal ${issueID}`, [
    { account, usd: new Decimal(valueInUSD).negated() },
    { account: 'fees', usd: new Decimal(fee).negated() },
    { account: { accountId: issuerId, type: wallet }, usd: new Decimal(valueInUSD).plus(fee) },
  ]);
}

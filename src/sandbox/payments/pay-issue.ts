import Decimal from 'decimal.js';
import { Behaviour } from '../behaviour';
import { Database } from '../database';
import { changeStatus, expireOverdue } from '../transactions/status';
import { post } from '../wallets/ledger';

/** A transaction that the control interface has made unpaid may be paid from a wallet, or paid already. */
const PAYABLE = { status: 'unpaid', wallet: null, money: 'kept' };

/** Pays the unpaid transactions of a batch with money from outside. It pays once, however often it is called. */
export async function payIssue(database: Database, behaviour: Behaviour, issueID: string): Promise<void> {
  await expireOverdue(database, behaviour);
  await database.$transaction(async (work) => {
    const unpaid = await work.transaction.findMany({ where: { issueID, ...PAYABLE }, select: { id: true } });
    const ids = unpaid.map(({ id }) => id);
    const paid = await changeStatus(work, ids, { from: 'unpaid', to: 'paid', money: 'paid' }); // Fewer, if another call was faster.
    const usd = paid.reduce((sum, { valueInUSD }) => sum.plus(valueInUSD), new Decimal(0));
    await post(work, `payment ${issueID}`, [
      { account: 'outside', usd: usd.negated() },
      { account: 'issued credit', usd },
    ]);
  });
}

import { wayOf } from '../behaviour/magic-recipients';
import { Call } from '../http/call';
import { chiRefsOf, Issue, Item, newIssue, storeIssue, Marks } from '../transactions/issue';
import { PAID_FROM_AND_TO, PayoutType } from '../transactions/money';
import { post } from '../wallets/ledger';

/** Stores the batch and debits its total from the wallet, both or neither. */
export async function payOut(call: Call, items: Item[], type: PayoutType, marks?: Marks): Promise<Issue> {
  const issuerId = call.account.id;
  const { wallet, account } = PAID_FROM_AND_TO[type];
  const { feePercent } = call.behaviour;
  const issue = newIssue(
    items.map((item) => withMagic(item, type)),
    { issuerId, type, status: 'paid', feePercent, wallet, ...(marks && { marks }) },
  );
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue, call.behaviour);
    await call.processed(work, chiRefsOf(issue.transactions));
    // Last, so that the wallet's row is locked as briefly as possible.
    await post(work, `payout ${issue.issueID}`, [
      { account: { accountId: issuerId, type: wallet }, usd: issue.total.negated() },
      { account, usd: issue.total.minus(issue.fee) },
      { account: 'fees', usd: issue.fee },
    ]);
  });
  return issue;
}

const REFUSED_BY_TELCO: Record<PayoutType, string> = {
  airtime: 'fail to send bulk airtime', // As observed. The other texts are similar.
  momo: 'fail to send bulk mobile money',
  credit: 'fail to send credits',
};

/** Returns an item with the result of its recipient. Throws if the recipient has the whole batch rejected. */
function withMagic(item: Item, type: PayoutType): Item {
  if (item.becomes !== undefined) return item;
  const becomes = wayOf(item, {
    insufficientFunds: `insufficient funds in the ${PAID_FROM_AND_TO[type].wallet} wallet`,
    transactionFailed: REFUSED_BY_TELCO[type],
  });
  return becomes ? { ...item, becomes } : item;
}

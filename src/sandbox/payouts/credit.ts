import { Call, Routes } from '../call';
import { paymentLink } from '../payments/link';
import { readCreditItems } from '../transactions/credit-items';
import { readMarks } from '../transactions/marks';
import { transactionRecord } from '../transactions/record';
import { issueUnpaid } from '../send/send';
import { payOut } from './pay-out';

export const creditRoutes = {
  'POST /payouts/credit': payOutCredit,
  'POST /payouts/initiate-credit': initiateCredit,
} satisfies Routes;

/** POST /payouts/credit: paid from the `chi` wallet. */
export async function payOutCredit(call: Call, body: unknown) {
  const items = readCreditItems(body, 'credits');
  const { issueID, transactions } = await payOut(call, items, 'credit', readMarks(body));
  return {
    paymentLink: paymentLink(call.origin, issueID),
    data: transactions.map((transaction) => transactionRecord(transaction, call.origin)),
    credits: [],
    error: 'None',
  };
}

/** POST /payouts/initiate-credit: creates unpaid transactions. Money moves when the link is paid. */
export async function initiateCredit(call: Call, body: unknown) {
  const { issueID, transactions } = await issueUnpaid(call, body, readCreditItems(body, 'credits'));
  return {
    paymentLink: paymentLink(call.origin, issueID),
    data: transactions.map((transaction) => transactionRecord(transaction, call.origin)),
    error: 'None',
  };
}

import { paymentLink } from '../payments/link';
import { Call } from '../call';
import { readCreditItems } from '../transactions/credit-items';
import { newIssue } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { fieldsOf, readOptionalText } from '../validation';
import { pay } from './pay';

/** POST /payouts/credit: paid from the `chi` wallet. */
export async function payOutCredit(call: Call, body: unknown): Promise<object> {
  const items = readCreditItems(body, 'credits');
  const issue = newIssue(items, { issuerId: call.account.id, type: 'credit', status: 'paid' });
  await pay(call, issue, 'chi');
  return {
    paymentLink: paymentLink(call.origin, issue.issueID),
    data: issue.transactions.map(transactionRecord),
    credits: [],
    error: 'None',
  };
}

/** POST /payouts/initiate-credit: makes unpaid transactions; no wallet changes. */
export async function initiateCredit({ account, database, origin }: Call, body: unknown): Promise<object> {
  const items = readCreditItems(body, 'credits');
  const description = readOptionalText(fieldsOf(body).description, 'description');
  const issue = newIssue(items, { issuerId: account.id, type: 'credit', status: 'unpaid', description });
  await database.transaction.createMany({ data: issue.transactions });
  return {
    paymentLink: paymentLink(origin, issue.issueID),
    data: issue.transactions.map(transactionRecord),
    error: 'None',
  };
}

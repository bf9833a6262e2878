import { Call, Routes } from '../call';
import { paymentLink } from '../payments/link';
import { readCreditItems } from '../transactions/credit-items';
import { chiRefsOf, Issue, Item, newIssue, storeIssue } from '../transactions/issue';
import { fieldsOf, readOptionalText } from '../validation';

export const sendRoutes = {
  'POST /send': send,
} satisfies Routes;

/** POST /send: creates unpaid transactions. Money moves when the link is paid. */
export async function send(call: Call, body: unknown) {
  const { issueID } = await issueUnpaid(call, body, readCreditItems(body, 'credit'));
  return { paymentLink: paymentLink(call.origin, issueID) };
}

/** Stores an unpaid batch under the body's `description`. No account of the ledger changes. */
export async function issueUnpaid(call: Call, body: unknown, items: Item[]): Promise<Issue> {
  const description = readOptionalText(fieldsOf(body).description, 'description');
  const issue = newIssue(items, { issuerId: call.account.id, type: 'credit', status: 'unpaid', description });
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue);
    await call.processed(work, chiRefsOf(issue.transactions));
  });
  return issue;
}

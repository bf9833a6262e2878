import { Call, Routes } from '../call';
import { paymentLink } from '../payments/link';
import { readCreditItems } from '../transactions/credit-items';
import { chiRefsOf, Issue, Item, newIssue, storeIssue } from '../transactions/issue';
import { readMarks } from '../transactions/marks';

export const sendRoutes = {
  'POST /send': send,
} satisfies Routes;

/** POST /send: creates unpaid transactions. Money moves when the link is paid. */
export async function send(call: Call, body: unknown) {
  const { issueID } = await issueUnpaid(call, body, readCreditItems(body, 'credit'));
  return { paymentLink: paymentLink(call.origin, issueID) };
}

/** Stores an unpaid batch with the caller's words about it. No account of the ledger changes. */
export async function issueUnpaid(call: Call, body: unknown, items: Item[]): Promise<Issue> {
  const issue = newIssue(items, {
    issuerId: call.account.id,
    type: 'credit',
    status: 'unpaid',
    marks: readMarks(body),
  });
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue, call.behaviour);
    await call.processed(work, chiRefsOf(issue.transactions));
  });
  return issue;
}

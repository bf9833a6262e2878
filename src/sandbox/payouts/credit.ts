import { Call, Routes } from '../call';
import { paymentLink } from '../pages/links';
import { readMarks, chiRefsOf, Issue, Item, newIssue, storeIssue, NOBODY } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { payOut } from './pay-out';
import { Fields, readItems, readOptionalText, readUsd } from '../validation';
import { Refusal } from '../envelope';

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

export const sendRoutes = {
  'POST /send': send,
} satisfies Routes;

/** POST /send: creates unpaid transactions. Money moves when the link is paid. */
export async function send(call: Call, body: unknown) {
  const { issueID } = await issueUnpaid(call, body, readCreditItems(body, 'credit'));
  return { paymentLink: paymentLink(call.origin, issueID) };
}

/** Stores an unpaid batch with the caller's words about it. No account of the ledger changes. */
async function issueUnpaid(call: Call, body: unknown, items: Item[]): Promise<Issue> {
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

/**
 * Reads the credit items under `name` (docs/reference/upstream.md, "Credit item"). Each needs an email or a handle. If
 * it has both, the email is used. `valueInUSD`, marked optional on /payouts/credit, is always required here, because
 * there is nothing to pay without it.
 */
export function readCreditItems(body: unknown, name: string): Item[] {
  return readItems(body, name, readCreditItem);
}

function readCreditItem(item: Fields, name: string): Item {
  const email = readOptionalText(item.email, `${name}.email`) || null;
  const twitter = readOptionalText(item.twitter, `${name}.twitter`) || null;
  if (email === null && twitter === null) throw new Refusal(`${name} must have an email or a twitter handle`);
  if (email !== null && !email.includes('@')) throw new Refusal(`${name}.email must be an e-mail address`);
  if (email === null && !twitter?.startsWith('@')) throw new Refusal(`${name}.twitter must start with @`);
  return {
    ...NOBODY,
    email,
    twitter: email === null ? twitter : null,
    ...readMarks(item, name),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
  };
}

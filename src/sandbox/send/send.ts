import { paymentLink } from '../payments/link';
import { Call } from '../call';
import { readCreditItems } from '../transactions/credit-items';
import { newIssue } from '../transactions/issue';
import { fieldsOf, readOptionalText } from '../validation';

/** POST /send: makes unpaid transactions; no wallet changes. */
export async function send({ account, database, origin }: Call, body: unknown): Promise<object> {
  const items = readCreditItems(body, 'credit');
  const description = readOptionalText(fieldsOf(body).description, 'description');
  const issue = newIssue(items, { issuerId: account.id, type: 'credit', status: 'unpaid', description });
  await database.transaction.createMany({ data: issue.transactions });
  return { paymentLink: paymentLink(origin, issue.issueID) };
}

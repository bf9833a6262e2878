import Decimal from 'decimal.js';
import { Call } from '../call';
import { toUsd } from '../countries/rates';
import { Work } from '../database';
import { NOT_FOUND, Refusal } from '../envelope';
import { unknownCurrency } from '../info/info';
import { chiRefsOf, Issue, newIssue, NewTransaction, NOBODY, storeIssue } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { changeStatus } from '../transactions/status';
import { Fields, fieldsOf, readAmount, readPhoneNumber, readText } from '../validation';
import { post } from '../wallets/ledger';

// A collection is a transaction of type `payment`, so that it is listed and has its history like all others.

/** POST /collections/mobile-money/collect: the payer pays at once. */
export async function collect(call: Call, body: unknown): Promise<object> {
  const issue = readCollection(call, body, 'paid');
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue);
    await call.processed(work, chiRefsOf(issue.transactions));
    await receive(work, issue.transactions);
  });
  return collectionRecord(call, issue);
}

/** POST /collections/mobile-money/initiate: the payer has paid once it is verified. */
export async function initiateCollection(call: Call, body: unknown): Promise<object> {
  const issue = readCollection(call, body, 'pending');
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue);
    await call.processed(work, chiRefsOf(issue.transactions));
  });
  return collectionRecord(call, issue);
}

/** POST /collections/mobile-money/verify: completes an initiated one, once; asked again, it says how it stands. */
export async function verifyCollection(call: Call, body: unknown): Promise<object> {
  const id = readText(fieldsOf(body).id, 'id');
  const own = { id, issuerId: call.account.id, type: 'payment' };
  const found = await call.database.$transaction(async (work) => {
    if (!(await work.transaction.findUnique({ where: own }))) return null;
    const paid = await changeStatus(work, [id], { from: 'pending', to: 'paid' });
    await call.processed(work, chiRefsOf(paid));
    await receive(work, paid);
    return work.transaction.findUnique({ where: own });
  });
  return found ? transactionRecord(found, call.origin) : NOT_FOUND;
}

function readCollection({ account }: Call, body: unknown, status: 'paid' | 'pending'): Issue {
  const fields = fieldsOf(body);
  const currency = readText(fields.currency, 'currency');
  const amount = readAmount(fields.amount, 'amount');
  const valueInUSD = toUsd(amount, currency);
  if (!valueInUSD) throw unknownCurrency('currency');
  if (valueInUSD.isZero()) throw new Refusal('amount is worth less than 0.000001 USD');
  const payer = readPayer(fields);
  const fullname = readText(fields.fullname, 'fullname');
  const meta = { amount: amount.toNumber(), currency, fullname, tx_ref: payer.reference };
  return newIssue([{ ...payer, valueInUSD }], { issuerId: account.id, type: 'payment', status, meta });
}

function readPayer(fields: Fields) {
  const email = readText(fields.email, 'email');
  if (!email.includes('@')) throw new Refusal('email must be an e-mail address');
  return {
    ...NOBODY,
    email,
    phoneNumber: readPhoneNumber(fields.phone_number, 'phone_number'),
    countryToSend: readText(fields.country, 'country'),
    reference: readText(fields.tx_ref, 'tx_ref'),
  };
}

/** Money comes in from outside. */
async function receive(
  work: Work,
  payments: Pick<NewTransaction, 'issueID' | 'issuerId' | 'valueInUSD'>[],
): Promise<void> {
  for (const { issueID, issuerId, valueInUSD } of payments)
    await post(work, `collection ${issueID}`, [
      { account: 'outside', usd: new Decimal(valueInUSD).negated() },
      { account: { accountId: issuerId, type: 'momo' }, usd: new Decimal(valueInUSD) },
    ]);
}

function collectionRecord({ origin }: Call, { transactions }: Issue): object {
  return transactionRecord(transactions[0] as NewTransaction, origin);
}

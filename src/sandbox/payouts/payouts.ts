import Decimal from 'decimal.js';
import { Behaviour } from '../behaviour/behaviour';
import { magicStatuses } from '../behaviour/magic-recipients';
import { takesAirtime, inLocalCurrency, isNetwork } from '../countries/countries';
import { Call, Routes } from '../http/call';
import { Refusal } from '../http/envelope';
import {
  Fields,
  readItems,
  readOptionalText,
  readUsd,
  isPhoneNumber,
  readPhoneNumber,
  readText,
} from '../http/validation';
import { paymentLink } from '../pages/links';
import {
  chiRefsOf,
  Issue,
  Item,
  Marks,
  newIssue,
  NewTransaction,
  NO_RECIPIENT,
  readMarks,
  storeIssues,
} from '../transactions/issue';
import { PAYOUT_ACCOUNTS, PayoutType } from '../transactions/money';
import { transactionRecord } from '../transactions/record';

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

/** Stores an unpaid batch. No account of the ledger changes. */
async function issueUnpaid(call: Call, body: unknown, items: Item[]): Promise<Issue> {
  const issue = newIssue(items, {
    issuerId: call.account.id,
    type: 'credit',
    status: 'unpaid',
    marks: readMarks(body),
  });
  await call.database.$transaction(async (work) => {
    await storeIssues(work, [issue], call.behaviour);
    await call.processed(work, chiRefsOf(issue.transactions));
  });
  return issue;
}

/**
 * Reads the credit items under `name` (docs/reference/upstream.md, "Credit item"). Each needs an email or a
 * handle, and the email has precedence. `valueInUSD`, marked optional on /payouts/credit, is required.
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
    ...NO_RECIPIENT,
    email,
    twitter: email === null ? twitter : null,
    ...readMarks(item, name),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
  };
}

export const airtimeRoutes = {
  'POST /payouts/airtime': payOutAirtime,
} satisfies Routes;

/** POST /payouts/airtime: paid from the `airtime` wallet. One invalid item fails the whole batch. */
export async function payOutAirtime(call: Call, body: unknown) {
  const items = readItems(body, 'airtimes', (item, name) => readAirtimeItem(item, name, call.behaviour));
  const { issueID, transactions } = await payOut(call, items, 'airtime', readMarks(body));
  return {
    payoutLink: paymentLink(call.origin, issueID),
    data: transactions.map((transaction) => transactionRecord(transaction, call.origin)),
    error: 'None',
    payouts: transactions.map(telcoPayout),
  };
}

function readAirtimeItem(item: Fields, name: string, { quirks }: Behaviour): Item {
  const countryToSend = readText(item.countryToSend, `${name}.countryToSend`);
  if (!takesAirtime(countryToSend))
    throw new Refusal(`${name}.countryToSend must be a country of /info/airtime-countries`);
  const number = readText(item.phoneNumber, `${name}.phoneNumber`);
  const failsAlone = !quirks.badPhoneFailsBatch && !isPhoneNumber(number);
  return {
    ...NO_RECIPIENT,
    ...readMarks(item, name),
    countryToSend,
    phoneNumber: failsAlone ? number : readPhoneNumber(number, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
    ...(failsAlone && { becomes: ['failed'] }),
  };
}

/** Returns the telco's answer (docs/reference/upstream.md, /payouts/airtime). "Sent" is not yet delivered. */
function telcoPayout({ id, phoneNumber, countryToSend, valueInUSD, status }: NewTransaction) {
  const isSent = status !== 'failed' && status !== 'fraud';
  return {
    phoneNumber,
    amount: inLocalCurrency(new Decimal(valueInUSD), countryToSend ?? ''),
    status: isSent ? 'Sent' : 'Failed',
    requestId: id,
    errorMessage: isSent ? 'None' : 'could not be sent to this phone number',
  };
}

export const mobileMoneyRoutes = {
  'POST /payouts/mobile-money': payOutMobileMoney,
} satisfies Routes;

/** POST /payouts/mobile-money: paid from the `momo` wallet. */
export async function payOutMobileMoney(call: Call, body: unknown) {
  const items = readItems(body, 'momos', readMobileMoneyItem);
  const { transactions } = await payOut(call, items, 'momo', readMarks(body));
  return {
    credits: transactions.map((transaction) => transactionRecord(transaction, call.origin)),
    payouts: transactions.map(telcoPayout),
  };
}

function readMobileMoneyItem(item: Fields, name: string): Item {
  const countryToSend = readText(item.countryToSend, `${name}.countryToSend`);
  const momoCode = readText(item.momoCode, `${name}.momoCode`);
  if (!isNetwork(countryToSend, momoCode))
    throw new Refusal(`${name}.momoCode must be a code of /info/mobile-money-codes for its countryToSend`);
  return {
    ...NO_RECIPIENT,
    ...readMarks(item, name),
    countryToSend,
    phoneNumber: readPhoneNumber(item.phoneNumber, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
    reference: readText(item.reference, `${name}.reference`, true),
    momoCode,
  };
}

/** Stores the batch and debits its total from the wallet, together. */
export async function payOut(call: Call, items: Item[], type: PayoutType, marks?: Marks): Promise<Issue> {
  const issuerId = call.account.id;
  const { wallet, account } = PAYOUT_ACCOUNTS[type];
  const { feePercent } = call.behaviour;
  const issue = newIssue(
    items.map((item) => withMagic(item, type)),
    { issuerId, type, status: 'paid', feePercent, wallet, ...(marks && { marks }) },
  );
  const entries = [
    { account: { accountId: issuerId, type: wallet }, usd: issue.total.negated() },
    { account, usd: issue.total.minus(issue.fee) },
    { account: 'fees' as const, usd: issue.fee },
  ];
  await call.payOut({ issue, posting: { description: `payout ${issue.issueID}`, entries } });
  return issue;
}

const REFUSED_BY_TELCO: Record<PayoutType, string> = {
  airtime: 'fail to send bulk airtime', // As observed. The other texts are similar.
  momo: 'fail to send bulk mobile money',
  credit: 'fail to send credits',
};

/** Returns an item with the statuses of its magic recipient. Throws if it has the whole batch rejected. */
function withMagic(item: Item, type: PayoutType): Item {
  if (item.becomes !== undefined) return item;
  const becomes = magicStatuses(item, {
    insufficientFunds: `insufficient funds in the ${PAYOUT_ACCOUNTS[type].wallet} wallet`,
    transactionFailed: REFUSED_BY_TELCO[type],
  });
  return becomes ? { ...item, becomes } : item;
}

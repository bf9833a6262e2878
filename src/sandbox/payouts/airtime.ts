import { Behaviour } from '../behaviour';
import { Call, Routes } from '../call';
import { takesAirtime, inLocalCurrency, isNetwork } from '../countries/countries';
import { Refusal } from '../envelope';
import { paymentLink } from '../pages/links';
import { Item, NOBODY, readMarks, NewTransaction } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { Fields, isPhoneNumber, readItems, readPhoneNumber, readText, readUsd } from '../validation';
import { payOut } from './pay-out';
import Decimal from 'decimal.js';

export const airtimeRoutes = {
  'POST /payouts/airtime': payOutAirtime,
} satisfies Routes;

/** POST /payouts/airtime: paid from the `airtime` wallet. One faulty item fails the whole batch. */
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
    ...NOBODY,
    ...readMarks(item, name),
    countryToSend,
    phoneNumber: failsAlone ? number : readPhoneNumber(number, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
    ...(failsAlone && { becomes: ['failed'] }),
  };
}

/** The telco's answer (docs/reference/upstream.md, /payouts/airtime). "Sent" means handed over, not delivered. */
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
    ...NOBODY,
    ...readMarks(item, name),
    countryToSend,
    phoneNumber: readPhoneNumber(item.phoneNumber, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
    reference: readText(item.reference, `${name}.reference`, true),
    momoCode,
  };
}

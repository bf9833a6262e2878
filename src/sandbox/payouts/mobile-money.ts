import { Call, Routes } from '../call';
import { isNetwork } from '../countries/countries';
import { Refusal } from '../envelope';
import { Item, NOBODY } from '../transactions/issue';
import { readMarks } from '../transactions/marks';
import { transactionRecord } from '../transactions/record';
import { Fields, readItems, readPhoneNumber, readText, readUsd } from '../validation';
import { payOut } from './pay-out';
import { telcoPayout } from './telco';

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

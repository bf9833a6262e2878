import { Call } from '../call';
import { Item, newIssue, NOBODY } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { Fields, readItems, readPhoneNumber, readText, readUsd } from '../validation';
import { pay } from './pay';
import { telcoPayout } from './telco';

/** POST /payouts/mobile-money: paid from the `momo` wallet. Any `momoCode` is taken. */
export async function payOutMobileMoney(call: Call, body: unknown): Promise<object> {
  const items = readItems(body, 'momos', readMobileMoneyItem);
  const issue = newIssue(items, { issuerId: call.account.id, type: 'momo', status: 'paid' });
  await pay(call, issue, 'momo');
  return { credits: issue.transactions.map(transactionRecord), payouts: issue.transactions.map(telcoPayout) };
}

function readMobileMoneyItem(item: Fields, name: string): Item {
  return {
    ...NOBODY,
    countryToSend: readText(item.countryToSend, `${name}.countryToSend`),
    phoneNumber: readPhoneNumber(item.phoneNumber, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
    reference: readText(item.reference, `${name}.reference`, true),
    momoCode: readText(item.momoCode, `${name}.momoCode`),
  };
}

import { paymentLink } from '../payments/link';
import { Call } from '../call';
import { Item, newIssue, NOBODY } from '../transactions/issue';
import { transactionRecord } from '../transactions/record';
import { Fields, readItems, readPhoneNumber, readText, readUsd } from '../validation';
import { pay } from './pay';
import { telcoPayout } from './telco';

/** POST /payouts/airtime: paid from the `airtime` wallet. One faulty item fails the whole batch. */
export async function payOutAirtime(call: Call, body: unknown): Promise<object> {
  const items = readItems(body, 'airtimes', readAirtimeItem);
  const issue = newIssue(items, { issuerId: call.account.id, type: 'airtime', status: 'paid' });
  await pay(call, issue, 'airtime');
  return {
    payoutLink: paymentLink(call.origin, issue.issueID),
    data: issue.transactions.map(transactionRecord),
    error: 'None',
    payouts: issue.transactions.map(telcoPayout),
  };
}

function readAirtimeItem(item: Fields, name: string): Item {
  return {
    ...NOBODY,
    countryToSend: readText(item.countryToSend, `${name}.countryToSend`),
    phoneNumber: readPhoneNumber(item.phoneNumber, `${name}.phoneNumber`),
    valueInUSD: readUsd(item.valueInUSD, `${name}.valueInUSD`),
  };
}

import { Behaviour } from '../behaviour';
import { Call, Routes } from '../call';
import { takesAirtime } from '../countries/countries';
import { Refusal } from '../envelope';
import { paymentLink } from '../payments/link';
import { Item, NOBODY } from '../transactions/issue';
import { readMarks } from '../transactions/marks';
import { transactionRecord } from '../transactions/record';
import { Fields, isPhoneNumber, readItems, readPhoneNumber, readText, readUsd } from '../validation';
import { payOut } from './pay-out';
import { telcoPayout } from './telco';

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

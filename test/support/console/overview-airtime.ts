import { Decimal } from 'decimal.js';
import type { Overview } from '../http/api';

export const AIRTIME = 'POST /payouts/airtime';
/** Magic recipients of the sandbox: a reset connection, and a rejected batch. */
export const [TORN, REJECTED] = ['+254799990204', '+254799990107'];
const PAID = '+254712345678';
export const airtimes = (usd: number[], phoneNumber = PAID) => ({
  airtimes: usd.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD })),
});

/** Returns calls, items, and the requested and paid amounts of airtime over all days. */
export const ofAirtime = ({ history }: Overview) => {
  const days = (history?.days ?? []).filter(({ operation }) => operation === AIRTIME);
  const total = (name: 'calls' | 'items' | 'asked_usd' | 'paid_usd') =>
    days.reduce((sum, day) => sum.add(day[name]), new Decimal(0)).toFixed();
  return [total('calls'), total('items'), total('asked_usd'), total('paid_usd')];
};

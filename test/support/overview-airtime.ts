import { Decimal } from 'decimal.js';
import type { Overview } from './api';

export const AIRTIME = 'POST /payouts/airtime';
/** Of the sandbox: it tears the connection down; it rejects the batch; it pays. */
export const [TORN, REJECTED, PAID] = ['+254799990204', '+254799990107', '+254712345678'];
export const airtimes = (usd: number[], phoneNumber = PAID) => ({
  airtimes: usd.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD })),
});

/** Calls, items, what was asked and what succeeded, of airtime on all days. */
export const ofAirtime = ({ history }: Overview) => {
  const days = (history?.days ?? []).filter(({ operation }) => operation === AIRTIME);
  const total = (name: 'calls' | 'items' | 'asked_usd' | 'succeeded_usd') =>
    days.reduce((sum, day) => sum.add(day[name]), new Decimal(0)).toFixed();
  return [total('calls'), total('items'), total('asked_usd'), total('succeeded_usd')];
};

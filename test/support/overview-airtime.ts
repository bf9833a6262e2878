import { Decimal } from 'decimal.js';

export const AIRTIME = 'POST /payouts/airtime';
/** Of the sandbox: it tears the connection down; it rejects the batch; it pays. */
export const [TORN, REJECTED, PAID] = ['+254799990204', '+254799990107', '+254712345678'];
export const airtimes = (usd: number[], phoneNumber = PAID) => ({
  airtimes: usd.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD })),
});

/** Calls, items, what was asked and what succeeded, of airtime on all days. */
export const ofAirtime = ({ history }: Record<string, any>) => {
  const days = history.days.filter(({ operation }: { operation: string }) => operation === AIRTIME);
  const total = (name: string) =>
    days.reduce((sum: Decimal, day: Record<string, any>) => sum.add(day[name]), new Decimal(0)).toFixed();
  return ['calls', 'items', 'asked_usd', 'succeeded_usd'].map(total);
};

import { Decimal } from 'decimal.js';

export const AIRTIME = 'POST /payouts/airtime';
/** Magic recipients of the sandbox: it resets the connection, rejects the batch, or pays. */
export const [TORN, REJECTED, PAID] = ['+254799990204', '+254799990107', '+254712345678'];
export const airtimes = (usd: number[], phoneNumber = PAID) => ({
  airtimes: usd.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD })),
});

/** Returns calls, items, and the requested and succeeded amounts of airtime over all days. */
export const ofAirtime = ({ history }: Record<string, any>) => {
  const days = history.days.filter(({ operation }: { operation: string }) => operation === AIRTIME);
  const total = (name: string) =>
    days.reduce((sum: Decimal, day: Record<string, any>) => sum.add(day[name]), new Decimal(0)).toFixed();
  return ['calls', 'items', 'asked_usd', 'succeeded_usd'].map(total);
};

import { Kind, Payment } from './schedule';

/** Paths of the kinds of payouts. */
export const PATHS = {
  airtime: '/payouts/airtime',
  momo: '/payouts/mobile-money',
  credit: '/payouts/credit',
} as const;

/** Returns the body of a payout of a kind. */
export function bodyOf(kind: Kind, items: Payment[]): object {
  const phone = (who: number) => ({
    countryToSend: 'Kenya',
    phoneNumber: `+25471${String(who).padStart(7, '0')}`,
  });
  switch (kind) {
    case 'airtime':
      return { airtimes: items.map(({ who, usd }) => ({ ...phone(who), valueInUSD: usd })) };
    case 'momo':
      return {
        momos: items.map(({ who, usd }) => ({
          ...phone(who),
          valueInUSD: usd,
          momoCode: 'MPS',
          reference: '',
        })),
      };
    case 'credit':
      return {
        credits: items.map(({ who, usd }) => ({ email: `person.${who}@example.com`, valueInUSD: usd })),
      };
  }
}

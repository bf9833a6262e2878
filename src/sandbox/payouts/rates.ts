import Decimal from 'decimal.js';

/** Units of the local currency for one US dollar. Fixed: the sandbox is no market, and the same request answers the same. */
const RATES: Record<string, { currency: string; rate: string }> = {
  cameroon: { currency: 'XAF', rate: '601.25' },
  "côte d'ivoire": { currency: 'XOF', rate: '601.25' },
  ghana: { currency: 'GHS', rate: '15.32' },
  kenya: { currency: 'KES', rate: '129.50084' },
  nigeria: { currency: 'NGN', rate: '1538.75' },
  rwanda: { currency: 'RWF', rate: '1355.6' },
  'south africa': { currency: 'ZAR', rate: '18.24' },
  tanzania: { currency: 'TZS', rate: '2610.5' },
  uganda: { currency: 'UGX', rate: '3672.4' },
  zambia: { currency: 'ZMW', rate: '26.85' },
};

const LOCAL_DECIMALS = 4; // as in the observed "KES 1942.5126"

/** For example "KES 1942.5126" for 15 USD to Kenya; "USD 15" to a country without a rate. */
export function inLocalCurrency(usd: Decimal, country: string): string {
  const key = country.trim().toLowerCase().normalize();
  const local = Object.hasOwn(RATES, key) ? RATES[key] : undefined;
  if (!local) return `USD ${usd.toFixed()}`;
  return `${local.currency} ${usd.times(local.rate).toDecimalPlaces(LOCAL_DECIMALS).toFixed()}`;
}

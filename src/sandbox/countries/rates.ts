import Decimal from 'decimal.js';
import { countryKey } from './countries';

interface LocalRate {
  currency: string;
  /** Units of the currency for one US dollar. */
  rate: string;
}

/** Fixed, so that the same request gets the same answer. */
const RATES: Record<string, LocalRate> = {
  Cameroon: { currency: 'XAF', rate: '601.25' },
  "Côte d'Ivoire": { currency: 'XOF', rate: '601.25' },
  Ghana: { currency: 'GHS', rate: '15.32' },
  Kenya: { currency: 'KES', rate: '129.50084' },
  Nigeria: { currency: 'NGN', rate: '1538.75' },
  Rwanda: { currency: 'RWF', rate: '1355.6' },
  'South Africa': { currency: 'ZAR', rate: '18.24' },
  Tanzania: { currency: 'TZS', rate: '2610.5' },
  Uganda: { currency: 'UGX', rate: '3672.4' },
  Zambia: { currency: 'ZMW', rate: '26.85' },
};

const byCountry = new Map(Object.entries(RATES).map(([country, rate]) => [countryKey(country), rate]));
const byCurrency = new Map(Object.values(RATES).map(({ currency, rate }) => [currency, rate]));

export const CURRENCIES = [...byCurrency.keys()];

const LOCAL_DECIMALS = 4; // As in the observed "KES 1942.5126".
const USD_DECIMALS = 6; // As in the database.

/** Returns, for example, "KES 1942.5126" for 15 USD to Kenya, and "USD 15" for a country without a rate. */
export function inLocalCurrency(usd: Decimal, country: string): string {
  const local = byCountry.get(countryKey(country));
  if (!local) return `USD ${usd.toFixed()}`;
  return `${local.currency} ${usd.times(local.rate).toDecimalPlaces(LOCAL_DECIMALS).toFixed()}`;
}

/** Converts an amount in US dollars to a currency such as "KES". Undefined for a currency without a rate. */
export function fromUsd(usd: Decimal, currency: string): Decimal | undefined {
  const rate = byCurrency.get(currency.toUpperCase());
  return rate === undefined ? undefined : usd.times(rate).toDecimalPlaces(LOCAL_DECIMALS);
}

/**
 * Converts an amount in a currency such as "KES" to US dollars, rounded down. Undefined for a currency without a rate.
 */
export function toUsd(amount: Decimal, currency: string): Decimal | undefined {
  const rate = byCurrency.get(currency.toUpperCase());
  return rate === undefined ? undefined : amount.div(rate).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_DOWN);
}

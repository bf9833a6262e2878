import Decimal from 'decimal.js';

/** Returns a country's name for comparisons, regardless of case, accents, apostrophes and outer spaces. */
function countryKey(name: string): string {
  return name
    .trim()
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .replace(/’/g, "'")
    .toLowerCase();
}

/** The countries that can receive airtime (docs/reference/upstream.md, "Countries and networks"). */
export const AIRTIME_COUNTRIES = ['Nigeria', 'Ghana', 'Kenya', 'South Africa', 'Uganda'];

const airtimeKeys = new Set(AIRTIME_COUNTRIES.map(countryKey));

export function takesAirtime(country: string): boolean {
  return airtimeKeys.has(countryKey(country));
}

interface MobileMoneyCode {
  name: string;
  country: string;
  code: string;
  provider?: string;
  manual?: boolean;
}

/**
 * Mobile money networks: those of docs/reference/upstream.md, and similar ones. As observed, a code is unique
 * only within its country, and rows repeat.
 */
export const MOBILE_MONEY_CODES: MobileMoneyCode[] = [
  { name: 'M-Pesa', country: 'Kenya', code: 'MPS', provider: 'Safaricom' },
  { name: 'Airtel Money', country: 'Kenya', code: 'ATL' },
  { name: 'M-Pesa', country: 'Tanzania', code: 'MPS', provider: 'Vodacom' },
  { name: 'Tigo Pesa', country: 'Tanzania', code: 'TGO', manual: true },
  { name: 'MTN Mobile Money', country: 'Cameroon', code: 'MTN' },
  { name: 'Orange Money', country: 'Cameroon', code: 'ORG' },
  { name: 'MTN Mobile Money', country: "Côte d'Ivoire", code: 'MTN' },
  { name: 'Orange Money', country: "Côte d'Ivoire", code: 'ORG' },
  { name: 'MTN Mobile Money', country: 'Ghana', code: 'MTN' },
  { name: 'Vodafone Cash', country: 'Ghana', code: 'VDF' },
  { name: 'AirtelTigo Money', country: 'Ghana', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Ghana', code: 'MTN' },
  { name: 'MTN Mobile Money', country: 'Rwanda', code: 'MTN' },
  { name: 'Airtel Money', country: 'Rwanda', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Uganda', code: 'MTN' },
  { name: 'Airtel Money', country: 'Uganda', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Uganda', code: 'MTN' },
  { name: 'MTN Mobile Money', country: 'Zambia', code: 'MTN' },
  { name: 'Airtel Money', country: 'Zambia', code: 'ATL', manual: true },
];

const networkKey = (country: string, code: string) => `${countryKey(country)}/${code}`;
const networkKeys = new Set(MOBILE_MONEY_CODES.map(({ country, code }) => networkKey(country, code)));

export function isNetwork(country: string, code: string): boolean {
  return networkKeys.has(networkKey(country, code));
}

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

/** Converts US dollars to a currency such as "KES". Undefined for a currency without a rate. */
export function fromUsd(usd: Decimal, currency: string): Decimal | undefined {
  const rate = byCurrency.get(currency.toUpperCase());
  return rate === undefined ? undefined : usd.times(rate).toDecimalPlaces(LOCAL_DECIMALS);
}

/** Converts a currency such as "KES" to US dollars, rounded down. Undefined for a currency without a rate. */
export function toUsd(amount: Decimal, currency: string): Decimal | undefined {
  const rate = byCurrency.get(currency.toUpperCase());
  return rate === undefined ? undefined : amount.div(rate).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_DOWN);
}

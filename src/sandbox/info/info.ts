import { AIRTIME_COUNTRIES, MOBILE_MONEY_CODES, CURRENCIES, fromUsd, toUsd } from '../countries/countries';
import { Call, Routes } from '../http/call';
import { Refusal } from '../http/envelope';
import { fieldsOf, readAmount, readText } from '../http/validation';

export const infoRoutes = {
  'GET /info/assets': listAssets,
  'GET /info/airtime-countries': listAirtimeCountries,
  'GET /info/mobile-money-codes': listMobileMoneyCodes,
  'GET /info/usd-amount-in-local': usdInLocal,
  'GET /info/local-amount-in-usd': localInUsd,
} satisfies Routes;

/** GET /info/assets: the assets that a recipient can redeem a credit as. */
function listAssets() {
  return Promise.resolve({ benefitsList: ASSETS });
}

/** GET /info/airtime-countries */
function listAirtimeCountries(): Promise<string[]> {
  return Promise.resolve(AIRTIME_COUNTRIES);
}

/** GET /info/mobile-money-codes: the values for `momoCode`. */
function listMobileMoneyCodes() {
  return Promise.resolve(MOBILE_MONEY_CODES);
}

const RATE_HOLDS_MS = 15 * 60 * 1_000;

/** GET /info/usd-amount-in-local?destinationCurrency=&amountInUSD= */
function usdInLocal(_call: Call, query: unknown) {
  const { amountInUSD, destinationCurrency } = fieldsOf(query);
  const currency = readText(destinationCurrency, 'destinationCurrency');
  const local = fromUsd(readAmount(amountInUSD, 'amountInUSD'), currency);
  if (!local) throw unknownCurrency('destinationCurrency');
  const amountInDestinationCurrency = local.toNumber();
  return Promise.resolve({
    amountInUSD,
    destinationCurrency,
    amountInDestinationCurrency,
    validUntil: validUntil(),
  });
}

/** GET /info/local-amount-in-usd?originCurrency=&amountInOriginCurrency= */
function localInUsd(_call: Call, query: unknown) {
  const { amountInOriginCurrency, originCurrency } = fieldsOf(query);
  const currency = readText(originCurrency, 'originCurrency');
  const usd = toUsd(readAmount(amountInOriginCurrency, 'amountInOriginCurrency'), currency);
  if (!usd) throw unknownCurrency('originCurrency');
  return Promise.resolve({
    amountInOriginCurrency,
    originCurrency,
    amountInUSD: usd.toNumber(),
    validUntil: validUntil(),
  });
}

function validUntil(): string {
  return new Date(Date.now() + RATE_HOLDS_MS).toISOString();
}

export function unknownCurrency(name: string): Refusal {
  return new Refusal(`${name} must be one of ${CURRENCIES.join(', ')}`);
}

export interface Asset {
  name: string;
  img: string;
  description: string;
  code: string;
  type: 'airtime' | 'momo' | 'gift-card' | 'crypto' | 'other';
  available: boolean;
}

const asset = (
  type: Asset['type'],
  code: string,
  name: string,
  description: string,
  available = true,
): Asset => ({
  name,
  img: `https://sandbox.example/assets/${code}.png`,
  description,
  code,
  type,
  available,
});

/** Assets that a recipient can redeem a credit as. The shape is observed, and the rows are invented. */
export const ASSETS: Asset[] = [
  asset('airtime', 'airtime', 'Airtime', 'Airtime or mobile data for a phone'),
  asset('momo', 'momo', 'Mobile money', 'Money on a mobile money account'),
  asset('gift-card', 'gift-groceries', 'Groceries gift card', 'For a supermarket'),
  asset('gift-card', 'gift-books', 'Books gift card', 'For a bookshop'),
  asset('gift-card', 'gift-games', 'Games gift card', 'For a games shop', false),
  asset('crypto', 'btc', 'Bitcoin', 'To an address of your own'),
  asset('crypto', 'usdc', 'USD Coin', 'To an address of your own'),
  asset('other', 'solar', 'Solar tokens', 'Units for a solar meter'),
  asset('other', 'school-fees', 'School fees voucher', 'For a school that takes part'),
];

/** Returns the available asset of this type and code, or undefined. */
export function availableAsset(type: Asset['type'], code: string): Asset | undefined {
  return ASSETS.find((asset) => asset.type === type && asset.code === code && asset.available);
}

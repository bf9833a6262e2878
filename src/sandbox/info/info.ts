import { Call, Routes } from '../call';
import { AIRTIME_COUNTRIES, MOBILE_MONEY_CODES } from '../countries/countries';
import { CURRENCIES, fromUsd, toUsd } from '../countries/rates';
import { Refusal } from '../envelope';
import { fieldsOf, readAmount, readText } from '../validation';
import { ASSETS } from './assets';

export const infoRoutes = {
  'GET /info/assets': listAssets,
  'GET /info/airtime-countries': listAirtimeCountries,
  'GET /info/mobile-money-codes': listMobileMoneyCodes,
  'GET /info/usd-amount-in-local': usdInLocal,
  'GET /info/local-amount-in-usd': localInUsd,
} satisfies Routes;

/** GET /info/assets: the things that a recipient can turn a credit into. */
export function listAssets() {
  return Promise.resolve({ benefitsList: ASSETS });
}

/** GET /info/airtime-countries */
export function listAirtimeCountries(): Promise<string[]> {
  return Promise.resolve(AIRTIME_COUNTRIES);
}

/** GET /info/mobile-money-codes: the values for `momoCode`. */
export function listMobileMoneyCodes() {
  return Promise.resolve(MOBILE_MONEY_CODES);
}

const RATE_HOLDS_MS = 15 * 60 * 1_000;

/** GET /info/usd-amount-in-local?destinationCurrency=&amountInUSD= */
export function usdInLocal(_call: Call, query: unknown) {
  const { amountInUSD, destinationCurrency } = fieldsOf(query);
  const currency = readText(destinationCurrency, 'destinationCurrency');
  const local = fromUsd(readAmount(amountInUSD, 'amountInUSD'), currency);
  if (!local) throw unknownCurrency('destinationCurrency');
  const amountInDestinationCurrency = local.toNumber();
  return Promise.resolve({ amountInUSD, destinationCurrency, amountInDestinationCurrency, validUntil: validUntil() });
}

/** GET /info/local-amount-in-usd?originCurrency=&amountInOriginCurrency= */
export function localInUsd(_call: Call, query: unknown) {
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

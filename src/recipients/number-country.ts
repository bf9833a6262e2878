import {
  CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'; // Already loaded by class-validator.

/** Countries with their own calling code, by the code. Parsing a number takes a hundred times as long. */
let alone: ReadonlyMap<string, readonly CountryCode[]> | undefined;

/**
 * Returns the possible countries of a phone number in international form: usually one. Several countries
 * share some calling codes, such as +1, and their new area codes can belong to each of them. Empty for a
 * number without a country, such as one of a satellite network.
 */
export function countriesOfNumber(phone: string): readonly CountryCode[] {
  alone ??= countriesAlone();
  // No calling code is a prefix of another.
  const sole = alone.get(phone.slice(0, 3)) ?? alone.get(phone.slice(0, 4));
  if (sole) return sole;
  const number = parsePhoneNumberFromString(phone);
  if (number?.country) return [number.country];
  return number?.getPossibleCountries() ?? [];
}

/** The keys are calling codes with their plus sign. */
function countriesAlone(): Map<string, CountryCode[]> {
  const countries = new Map<string, CountryCode[]>();
  for (const code of getCountries()) {
    const prefix = `+${getCountryCallingCode(code)}`;
    countries.set(prefix, [...(countries.get(prefix) ?? []), code]);
  }
  return new Map([...countries].filter(([, { length }]) => length === 1));
}

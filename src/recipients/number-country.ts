import { CountryCode, getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'; // class-validator has loaded it already

/** The countries that share their calling code with no other, by the code. Parsing a number takes a hundred times as long. */
let alone: ReadonlyMap<string, readonly CountryCode[]> | undefined;

/**
 * Returns the countries that a phone number in international form can belong to: usually one. Several countries share
 * some calling codes, such as +1, and a new area code of theirs can belong to each of them. A number of no country, such
 * as one of a satellite network, has none.
 */
export function countriesOfNumber(phone: string): readonly CountryCode[] {
  alone ??= countriesAlone();
  const sole = alone.get(phone.slice(0, 3)) ?? alone.get(phone.slice(0, 4)); // no calling code begins with another
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

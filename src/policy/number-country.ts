import { CountryCode, getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'; // class-validator has loaded it already
import { normalise } from './country-name';

/** Other names of countries: former ones, those of ISO 3166-1 and of the United Nations, and short ones. */
const OTHER_NAMES: Readonly<Partial<Record<CountryCode, readonly string[]>>> = {
  AE: ['UAE'],
  BN: ['Brunei Darussalam'],
  BO: ['Bolivia, Plurinational State of'],
  CD: [
    'Democratic Republic of the Congo',
    'Democratic Republic of Congo',
    'Congo, Democratic Republic of the',
    'Congo, The Democratic Republic of the',
    'Congo, Democratic Republic',
    'Congo (Democratic Republic)',
    'Congo DRC',
    'DR Congo',
    'DRC',
    'Zaire',
  ],
  CG: ['Congo', 'Republic of the Congo', 'Congo Republic', 'Congo, Republic of the'],
  CI: ['Ivory Coast'],
  CV: ['Cape Verde', 'Cabo Verde'],
  CZ: ['Czechia', 'Czech Republic'],
  FM: ['Micronesia, Federated States of'],
  GB: ['Great Britain', 'United Kingdom of Great Britain and Northern Ireland'],
  GM: ['The Gambia'],
  IR: ['Iran, Islamic Republic of'],
  KP: ["Korea, Democratic People's Republic of"],
  KR: ['Korea', 'Republic of Korea', 'Korea, Republic of'],
  LA: ["Lao People's Democratic Republic", 'Lao PDR'],
  MD: ['Moldova, Republic of', 'Republic of Moldova'],
  MK: ['Macedonia'],
  MM: ['Burma'],
  MO: ['Macau'],
  PS: ['Palestine, State of', 'State of Palestine'],
  RU: ['Russian Federation'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Eswatini', 'Swaziland'],
  TL: ['East Timor'],
  TR: ['Turkey', 'Türkiye'],
  TW: ['Taiwan, Province of China'],
  TZ: ['United Republic of Tanzania', 'Tanzania, United Republic of'],
  US: ['USA', 'United States of America'],
  VA: ['Holy See'],
  VE: ['Venezuela, Bolivarian Republic of'],
  VN: ['Viet Nam'],
};

/** Made when the first client with a list of countries pays. They take 17 ms, which every command would spend otherwise. */
let codes: ReadonlyMap<string, CountryCode> | undefined;

/** The countries that share their calling code with no other, by the code. Parsing a number takes a hundred times as long. */
let alone: ReadonlyMap<string, readonly CountryCode[]> | undefined;

/**
 * Returns the code (ISO 3166-1 alpha-2) of a country's English name, or of its code. Undefined for a name that is not
 * known.
 */
export function countryOfName(name: string): CountryCode | undefined {
  codes ??= codesByName();
  return codes.get(normalise(name));
}

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

/** The English names are those of the Unicode CLDR. Each is known with "and" and "Saint", too. */
function codesByName(): Map<string, CountryCode> {
  const styles = (['long', 'short'] as const).map((style) => new Intl.DisplayNames('en', { type: 'region', style }));
  const byName = new Map<string, CountryCode>();
  for (const code of getCountries()) {
    const names = styles.map((style) => style.of(code) ?? code);
    const full = names.map((name) => name.replaceAll('&', 'and').replace(/\bSt\./, 'Saint'));
    for (const name of [code, ...names, ...full, ...(OTHER_NAMES[code] ?? [])]) byName.set(normalise(name), code);
  }
  return byName;
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

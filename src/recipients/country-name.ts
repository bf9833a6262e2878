import { CountryCode, getCountries } from 'libphonenumber-js/max'; // Already loaded by class-validator.
import { ALPHA_3_CODES, OTHER_NAMES } from './country-names';

/**
 * Spaces, punctuation, symbols and accents, which NFKD separates from their letters. The SQL function
 * country_key() removes the same characters.
 */
const SIGNS = String.raw`\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u02b0-\u036f\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f\ufeff`;
const NO_LETTERS = new RegExp(`[${SIGNS}]`, 'g');

/**
 * Returns a key for a country's name. "Côte d'Ivoire", "COTE D’IVOIRE" and "Cote d Ivoire" share a key,
 * because only letters and digits count, without accents. Mirrors the SQL function country_key().
 */
export function normalise(country: string): string {
  if (/^[A-Za-z0-9]+$/.test(country)) return country.toLowerCase(); // Most names need no more.
  const bare = country
    .normalize('NFKD')
    .replace(NO_LETTERS, '')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return bare === '' ? country : bare;
}

/**
 * Returns the code (ISO 3166-1 alpha-2) of a country's English or French name, or of its code of two or three
 * letters. Undefined for an unknown name.
 */
export function countryOfName(name: string): CountryCode | undefined {
  const codes = countryCodes();
  const key = normalise(name);
  return codes.get(key) ?? codes.get(key.replace(/^the|the$/, ''));
}

/**
 * Returns the canonical form of a country: its code (ISO 3166-1 alpha-2), or the key of an unknown name. Used
 * by indexes, filters and sums. Records keep the original text. Mirrors the SQL function canonical_country().
 */
export function canonicalCountry(name: string): string {
  return countryOfName(name) ?? normalise(name);
}

let englishNames: Intl.DisplayNames | undefined;

/** Returns the English name of a canonical country. Null for an unknown one. */
export function countryName(canonical: string): string | null {
  if (!/^[A-Z]{2}$/.test(canonical)) return null;
  englishNames ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  return englishNames.of(canonical) ?? null;
}

/** Built at the first look-up. It takes 20 ms, which would delay every command. */
let codesByKey: ReadonlyMap<string, CountryCode> | undefined;

/**
 * Returns the codes of countries by the keys of their names: those of the Unicode CLDR, also with "and" for
 * "&" and "Saint" for "St.". The SQL function canonical_country() has the same table.
 */
export function countryCodes(): ReadonlyMap<string, CountryCode> {
  return (codesByKey ??= readCodes());
}

function readCodes(): Map<string, CountryCode> {
  const styles = (
    [
      ['en', 'long'],
      ['en', 'short'],
      ['fr', 'long'],
    ] as const
  ).map(([language, style]) => new Intl.DisplayNames(language, { type: 'region', style }));
  const pairs = ALPHA_3_CODES.trim().split(/\s+/);
  const alpha3 = new Map(pairs.map((pair) => pair.split(':') as [string, string]));
  const byKey = new Map<string, CountryCode>();
  for (const code of getCountries()) {
    const names = [...styles.map((style) => style.of(code) ?? code), ...(OTHER_NAMES[code] ?? [])];
    const full = names.map((name) => name.replaceAll('&', 'and').replace(/\bSt\./, 'Saint'));
    for (const name of [code, alpha3.get(code) ?? code, ...names, ...full]) byKey.set(normalise(name), code);
  }
  return byKey;
}

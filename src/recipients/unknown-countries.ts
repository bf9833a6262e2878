import leven from 'leven';
import { Fault } from '../platform/errors/problem';
import { canonicalCountry, countryCodes, countryName, countryOfName, normalise } from './country-name';

/** Only the first unknown names of a list get suggestions, because each of them is compared with all known names. */
const MOST_SUGGESTIONS = 10;

/** The letters of a name for each of which one may be wrong. */
const LETTERS_PER_MISTAKE = 4;

/**
 * Returns a fault for each name of a list `countries` that is no known country, with the names that it probably means. A limit with
 * such a name would let nothing through that the operator means.
 * @param kept names that are accepted although they are unknown. Lists of earlier versions have some.
 */
export function unknownCountries(countries: readonly string[], kept: readonly string[] = []): Fault[] {
  const accepted = new Set(kept.map(canonicalCountry));
  const unknown = [...countries.entries()].filter(
    ([, name]) => countryOfName(name) === undefined && !accepted.has(canonicalCountry(name)),
  );
  return unknown.map(([place, name], nth) => {
    const meant = nth < MOST_SUGGESTIONS ? nearestCountries(name) : [];
    return {
      pointer: `/countries/${place}`,
      detail: 'must be an English or French name of a country, or its ISO 3166-1 code',
      ...(meant.length > 0 && { suggestion: meant.join(' or ') }),
    };
  });
}

/**
 * Returns the English names of the countries with a name that takes the fewest edits to get from a name that is not known. Empty if
 * none is near. Codes are not compared, because each is near to many others.
 */
export function nearestCountries(name: string): string[] {
  const key = normalise(name);
  let fewest = Math.floor(key.length / LETTERS_PER_MISTAKE);
  let nearest = new Set<string>();
  for (const [known, code] of countryCodes()) {
    if (known.length <= 3 || Math.abs(known.length - key.length) > fewest) continue;
    const edits = leven(key, known);
    if (edits > fewest) continue;
    if (edits < fewest) nearest = new Set();
    fewest = edits;
    nearest.add(countryName(code) ?? code);
  }
  return [...nearest].sort();
}

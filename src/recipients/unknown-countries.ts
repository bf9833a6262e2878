import leven from 'leven';
import { Fault } from '../platform/errors/problem';
import { countryCodes, countryName, countryOfName, normalise } from './country-name';

/** Limit of unknown names with suggestions, because each is compared with all known names. */
const MOST_SUGGESTIONS = 10;

/** Letters of a name per tolerated mistake. */
const LETTERS_PER_MISTAKE = 4;

/**
 * Returns a fault for each unknown country in a list `countries`, with the names that were probably meant. A
 * limit with an unknown name would block the intended country.
 */
export function unknownCountries(countries: readonly string[]): Fault[] {
  const unknown = [...countries.entries()].filter(([, name]) => countryOfName(name) === undefined);
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
 * Returns the English names of the countries whose names are the fewest edits away from an unknown name.
 * Empty if none is near. Codes are not compared, because each is near many others.
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

/**
 * Returns a key for a country's name. "Côte d'Ivoire", "COTE D’IVOIRE" and "Cote d Ivoire" have the same key, because
 * only letters and digits count, without accents.
 */
export function normalise(country: string): string {
  if (/^[A-Za-z0-9]+$/.test(country)) return country.toLowerCase(); // most names need no more
  const bare = country
    .normalize('NFKD')
    .replace(/[^\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/gu, '') // Also removes the accents, which NFKD has separated.
    .toLowerCase();
  return bare === '' ? country : bare;
}

/** "Côte d'Ivoire", "COTE D’IVOIRE" and "Cote d Ivoire" are one country: only letters and digits count, not accents or apostrophes. */
export function normalise(country: string): string {
  const bare = country
    .normalize('NFKD')
    .replace(/[^\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/gu, '') // with the accents, which NFKD has set apart
    .toLowerCase();
  return bare === '' ? country : bare;
}

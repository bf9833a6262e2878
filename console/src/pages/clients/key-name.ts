import type { KeyDto } from '../../api/generated/schema';

/** Returns the beginning and the end of a key. The key of a person who signs in at the provider has none. */
export function nameOf({ hint, kind, subject }: KeyDto): string {
  if (kind === 'provider') return 'tokens of the provider';
  return subject === null ? hint : `sign-in of ${subject}`;
}

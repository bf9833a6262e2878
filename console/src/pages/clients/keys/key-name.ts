import type { KeyDto } from '../../../api/generated/schema';

/** Returns the beginning and the end of a key, or what a key without a text stands for. */
export function nameOf({ hint, kind, subject }: KeyDto): string {
  if (kind === 'provider') return 'tokens of the provider';
  if (kind === 'page') return 'sessions on pages';
  return subject === null ? hint : `sign-in of ${subject}`;
}

import type { KeyDto } from '../../../api/generated/schema';

/** Returns the start and the end of a key. A key without a text is named by its purpose. */
export function nameOf({ hint, kind, subject }: KeyDto): string {
  if (kind === 'provider') return 'tokens of the provider';
  if (kind === 'page') return 'sessions on pages';
  return subject === null ? hint : `sign-in of ${subject}`;
}

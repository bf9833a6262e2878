import { Problem } from '../../platform/errors/problem';

const CALL_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads the header `Allow-Duplicate-Of`: the call that a request repeats on purpose.
 * @returns its ID, or null without the header.
 * @throws Problem `invalid_allow_duplicate_of`, also if the header was sent twice.
 */
export function readAllowDuplicateOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!CALL_ID.test(header)) throw new Problem('invalid_allow_duplicate_of');
  return header.toLowerCase();
}

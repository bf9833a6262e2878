import { Call, maySeePeople } from '../../access/auth/call';
import { Problem } from '../../platform/errors/problem';
import { SearchFilters } from './search.dto';

/**
 * Rejects a search by recipient for keys that may not see people. Its results would reveal who was paid, even if
 * masked. Prefix by prefix, some seventy requests find a phone number.
 * @throws Problem `scope_missing`
 */
export function requireMaySearchPeople(call: Call, search: SearchFilters): void {
  if (search.recipient === undefined && search.recipient_prefix === undefined) return;
  if (maySeePeople(call)) return;
  throw new Problem('scope_missing', {
    text: 'Searching by recipient or recipient_prefix requires a key with the scope audit:pii, because the results reveal who was paid. Use other filters, or ask the operator for the scope.',
  });
}

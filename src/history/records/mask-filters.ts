import { isUuid } from '../../platform/database/uuid';
import { DOTS } from '../../platform/privacy/contacts';
import { maskEmail, maskPhone, maskProse } from './masking';

/** Filters whose values are words, numbers, instants and our own IDs. They cannot name anybody. */
const SHOWN = new Set([
  'from',
  'to',
  'page_size',
  'page_token',
  'sort',
  'group_by',
  'format',
  'what',
  'outcome',
  'in_doubt',
  'approval',
  'status',
  'http_status',
  'actor_source',
  'key',
  'call',
  'min_item_usd',
  'max_item_usd',
  'min_total_usd',
  'max_total_usd',
]);

/** Filters for a recipient, whole or in part. A value that is no known kind of contact may still be a name. */
const WHO = new Set(['recipient', 'recipient_prefix']);

/** Filters for the requester. Any text can be the name of a person, and it can be erased. */
const BEHIND = new Set(['actor']);

/** Digits that may spell a phone number, also in groups. */
const NUMBER = /\d(?:[ ._()/-]{0,3}\d){6,}/g;

/** Returns whether filters name a person. The result tells whether this person was paid, even if it is empty or masked. */
export function nameRecipient(filters: Record<string, string>): boolean {
  return Object.keys(filters).some((name) => WHO.has(name));
}

/** Masks the filters of a search for a record that can never be erased. */
export function maskFilters(filters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, masked(name, value)]));
}

function masked(name: string, value: string): string {
  if (SHOWN.has(name)) return value;
  if (BEHIND.has(name)) return DOTS;
  // The original filters are stored where they can be erased, so masking too many numbers loses nothing.
  if (!WHO.has(name) && isUuid(value)) return value; // its digits are random
  if (!WHO.has(name)) return maskProse(value).replace(NUMBER, DOTS);
  if (/^\+\d+$/.test(value)) return maskPhone(value);
  return value.lastIndexOf('@') > 0 ? maskEmail(value) : DOTS;
}

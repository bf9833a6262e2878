import { DOTS } from '../../platform/privacy/contacts';
import { maskEmail, maskPhone, maskProse } from './masking';

/** Filters whose values are words, numbers, instants and ids of ours: nobody can be named in them. */
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
  'key',
  'call',
  'min_item_usd',
  'max_item_usd',
  'min_total_usd',
  'max_total_usd',
]);

/** Those that say who is looked for, whole or in part: what is not known for a kind of contact may still be a name. */
const WHO = new Set(['recipient', 'recipient_prefix']);

/** What somebody searched for, as a record that can never be erased may keep it. */
export function maskFilters(filters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, masked(name, value)]));
}

function masked(name: string, value: string): string {
  if (SHOWN.has(name)) return value;
  // As it was asked, it is kept where it can be erased: a number too many that is masked is not lost.
  if (name === 'reference') return maskProse(value).replace(/\d{7,15}/g, DOTS);
  if (!WHO.has(name)) return maskProse(value);
  if (/^\+\d+$/.test(value)) return maskPhone(value);
  return value.lastIndexOf('@') > 0 ? maskEmail(value) : DOTS;
}

import { MAGIC, magicOf } from '../magic-recipients';
import { isObject } from '../rules';
import { defaultFault, Struck } from './faults';
import { isFaultName } from './table';

/**
 * The fault that the first magic recipient of a request's body asks for, with its defaults, but `ms` as given. Nothing in
 * the body is validated yet.
 */
export function magicFault(body: unknown, ms: number): Struck | undefined {
  for (const item of itemsOf(body)) {
    const name = magicOf({
      phoneNumber: text(item.phoneNumber) ?? text(item.phone_number),
      email: text(item.email),
      twitter: text(item.twitter),
    });
    const row = name && MAGIC[name];
    if (row && 'fault' in row && isFaultName(row.fault)) {
      const fault = defaultFault(row.fault);
      return 'ms' in fault.settings ? { ...fault, settings: { ...fault.settings, ms } } : fault;
    }
  }
  return undefined;
}

/** The items that a body lists, or the body where it is one itself. */
function itemsOf(body: unknown): Record<string, unknown>[] {
  if (!isObject(body)) return [];
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  return lists.length > 0 ? lists.flat().filter(isObject) : [body];
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

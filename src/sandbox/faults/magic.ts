import { MAGIC, magicOf } from '../magic-recipients';
import { isObject } from '../rules';
import { defaultFault, Struck } from './faults';
import { isFaultName } from './table';

/**
 * Returns the fault of the first magic recipient in a request's body, with its defaults and the given `ms`. Nothing in
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
      const fault: Struck = { ...defaultFault(row.fault), isMagic: true };
      return 'ms' in fault.settings ? { ...fault, settings: { ...fault.settings, ms } } : fault;
    }
  }
  return undefined;
}

/** Returns the items that a body lists, or the body if it is an item itself. */
function itemsOf(body: unknown): Record<string, unknown>[] {
  if (!isObject(body)) return [];
  const lists = Object.values(body).filter((value) => Array.isArray(value));
  return lists.length > 0 ? lists.flat().filter(isObject) : [body];
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

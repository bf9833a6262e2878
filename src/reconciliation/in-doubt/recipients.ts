import { kindOfKey, RecipientKind } from '../../recipients/recipient';

/**
 * The fewest digits of a phone number. Two spellings of a number, with country code or as dialed at home, share as
 * many.
 */
const SHORTEST = 7;

/** Returns the kinds of names of a recipient. @param keys of its names. */
export function kindsOf(keys: string[]): RecipientKind[] {
  return [...new Set(keys.map(kindOfKey))].sort();
}

/**
 * Whether both have a name of the same kind, such as a phone number, which shows whether they are the same recipient.
 */
export function haveKindInCommon(some: RecipientKind[], others: RecipientKind[]): boolean {
  return some.some((kind) => others.includes(kind));
}

/**
 * Whether two lists of keys may share a recipient. A phone number may have its country code in one and not in the
 * other.
 */
export function maybeSameOne(some: string[], others: string[]): boolean {
  const values = others.map(valueOf);
  return some.map(valueOf).some((one) => values.some((other) => isSame(one, other)));
}

/** Returns the part that all keys of a recipient have in common. */
export function looseKey(key: string): string {
  const value = valueOf(key);
  return isNumber(value) ? value.slice(-SHORTEST) : value;
}

/** The ID of a sub-account may be the contact of its holder in another form. */
function valueOf(key: string): string {
  const value = key.toLowerCase().replace(/^(?:@|tel:)/, '');
  const digits = value.replace(/[\s().+-]/g, '');
  return isNumber(digits) ? digits.replace(/^0+/, '') : value;
}

function isNumber(value: string): boolean {
  return value.length >= SHORTEST && /^\d+$/.test(value);
}

function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  return isNumber(one) && isNumber(other) && (one.endsWith(other) || other.endsWith(one));
}

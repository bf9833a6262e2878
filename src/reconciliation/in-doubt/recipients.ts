/** The names that an item of ours, or a transaction of the upstream, gives its recipient. */
export interface Named {
  email: string | null;
  phone: string | null;
  handle: string | null;
  receiver: string | null;
}

/**
 * The fewest digits of a phone number. Two spellings of a number, with country code or as dialled at home, share as
 * many.
 */
const SHORTEST = 7;

const EMAIL = /^[^\s@*•]+@[^\s@*•]+$/;
const PHONE = /^\+?[\d\s().-]{7,24}$/;
const HANDLE = /^@?[\w.-]+$/;
const MASKED = /[*•]/;

/** Returns a key for each complete name, so that names can be compared. A masked or shortened name has no key. */
export function keysOf({ email, phone, handle, receiver }: Named): string[] {
  return [
    ...(email !== null && EMAIL.test(email) ? [`e:${email.toLowerCase()}`] : []),
    ...(phone !== null && PHONE.test(phone) ? [`p:${phone.replace(/\D/g, '')}`] : []),
    ...(handle !== null && HANDLE.test(handle) ? [`h:${handle.replace(/^@/, '').toLowerCase()}`] : []),
    ...(receiver !== null && !MASKED.test(receiver) ? [`r:${receiver}`] : []),
  ];
}

/**
 * Returns the keys of the recipient of an item. If there are an email and a handle, the email counts
 * (docs/reference/upstream.md, "Credit item", rule 2).
 */
export function payeeOf(field: string | null, { email, phone, handle, receiver }: Named): string[] {
  const nobody = { email: null, phone: null, handle: null, receiver: null };
  switch (field) {
    case 'email':
      return keysOf({ ...nobody, email });
    case 'phone':
      return keysOf({ ...nobody, phone });
    case 'handle':
      return keysOf({ ...nobody, handle });
    case 'receiver':
      // A contact used as the receiver is stored with the people, and the item has its mask.
      return keysOf({ ...nobody, receiver: email ?? phone ?? handle ?? receiver });
    case null:
    default:
      return keysOf({ email, phone, handle, receiver });
  }
}

/** Whether two lists of keys certainly share a recipient. */
export function sameOne(some: string[], others: string[]): boolean {
  return some.some((key) => others.includes(key));
}

/**
 * Whether both have a name of the same kind, such as a phone number, which shows whether they are the same recipient.
 */
export function haveKindInCommon(some: string[], others: string[]): boolean {
  return some.some((one) => others.some((other) => other.startsWith(one.slice(0, 2))));
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

/** A receiver may be a contact of another kind. */
function valueOf(key: string): string {
  const value = key.slice(2).toLowerCase().replace(/^@/, '');
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

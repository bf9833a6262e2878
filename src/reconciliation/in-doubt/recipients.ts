/** Whom an item of ours, or a transaction of theirs, names. */
export interface Named {
  email: string | null;
  phone: string | null;
  handle: string | null;
  receiver: string | null;
}

/** Shorter numbers are none; and what two spellings of one (with a country code, as it is dialled at home) have in common. */
const SHORTEST = 7;

const EMAIL = /^[^\s@*•]+@[^\s@*•]+$/;
const PHONE = /^\+?[\d\s().-]{7,24}$/;
const HANDLE = /^@?[\w.-]+$/;

/** Every recipient that is named in full, as a key by which two of them are compared. What is masked or cut is no key. */
export function keysOf({ email, phone, handle, receiver }: Named): string[] {
  return [
    ...(email !== null && EMAIL.test(email) ? [`e:${email.toLowerCase()}`] : []),
    ...(phone !== null && PHONE.test(phone) ? [`p:${phone.replace(/\D/g, '')}`] : []),
    ...(handle !== null && HANDLE.test(handle) ? [`h:${handle.replace(/^@/, '').toLowerCase()}`] : []),
    ...(receiver === null ? [] : [`r:${receiver}`]),
  ];
}

/** The keys of whom an item pays: with an e-mail and a handle, the e-mail (docs/reference/upstream.md, "Credit item", rule 2). */
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
      // A contact that was used for one is kept with the people; the item has its mask.
      return keysOf({ ...nobody, receiver: email ?? phone ?? handle ?? receiver });
    case null:
    default:
      return keysOf({ email, phone, handle, receiver });
  }
}

/** Whether two lists of keys name somebody in common for certain. */
export function sameOne(some: string[], others: string[]): boolean {
  return some.some((key) => others.includes(key));
}

/** Whether both have, say, a phone number: then it tells whether they are the same. */
export function haveKindInCommon(some: string[], others: string[]): boolean {
  return some.some((one) => others.some((other) => other.startsWith(one.slice(0, 2))));
}

/** Whether they may: also where a number stands with its country code here, and without it there. */
export function maybeSameOne(some: string[], others: string[]): boolean {
  const values = others.map(valueOf);
  return some.map(valueOf).some((one) => values.some((other) => isSame(one, other)));
}

/** What keys that may be the same recipient have in common. */
export function looseKey(key: string): string {
  const value = valueOf(key);
  return isNumber(value) ? value.slice(-SHORTEST) : value;
}

/** A receiver may be a contact of one of the other kinds. */
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

/** Whom an item of ours, or a transaction of theirs, names. */
export interface Named {
  email: string | null;
  phone: string | null;
  handle: string | null;
  receiver: string | null;
}

/** Digits of a number that two spellings of it (with a country code, as it is dialled at home) have in common. */
const COMMON_DIGITS = 8;

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

/** The keys of whom an item pays: with an e-mail and a handle, the e-mail (interface.md, "Credit item", rule 2). */
export function payeeOf(field: string | null, { email, phone, handle, receiver }: Named): string[] {
  const nobody = { email: null, phone: null, handle: null, receiver: null };
  switch (field) {
    case 'email':
      return keysOf({ ...nobody, email });
    case 'phoneNumber':
      return keysOf({ ...nobody, phone });
    case 'twitter':
      return keysOf({ ...nobody, handle });
    case 'receiver':
      // A contact that was used for one is kept with the people; the item has its mask.
      return [`r:${email ?? phone ?? handle ?? receiver}`];
    case null:
    default:
      return keysOf({ email, phone, handle, receiver });
  }
}

/** Whether two lists of keys name somebody in common for certain. */
export function sameOne(some: string[], others: string[]): boolean {
  return some.some((key) => others.includes(key));
}

/** Whether they may: also where a number stands with its country code here, and without it there. */
export function maybeSameOne(some: string[], others: string[]): boolean {
  const loose = others.map(looseKey);
  return some.some((key) => loose.includes(looseKey(key)));
}

/** What keys of the same recipient have in common, however it is written. */
export function looseKey(key: string): string {
  // A receiver may be a contact of one of the other kinds.
  const [kind, value] = [key.slice(0, 1), key.slice(2).toLowerCase().replace(/^@/, '')];
  const digits = value.replace(/[\s().+-]/g, '');
  return kind === 'p' || /^\d{7,}$/.test(digits) ? digits.slice(-COMMON_DIGITS) : value;
}

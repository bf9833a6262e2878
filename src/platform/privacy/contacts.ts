/**
 * Masks of contacts. The SQL functions audit.mask_email(), audit.mask_phone(), audit.mask_handle(),
 * audit.mask_contacts() and audit.mask_prose() do the same for the views of auditors, and `masked` of
 * src/reconciliation/matching/recipients.ts for findings.
 */

/** The mask. */
export const DOTS = '••••';

/** Masks an email address. People who know it can recognize it. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const [first, second] = email.slice(0, at); // whole characters, because half of one cannot be stored
  return `${second === undefined ? '' : first}••${email.slice(at)}`;
}

/** Masks at least four digits of a number, also of the shortest ones. */
export function maskPhone(phone: string): string {
  return `${phone.slice(0, 4)}${DOTS}${phone.slice(Math.max(8, phone.length - 4))}`;
}

export function maskHandle(handle: string): string {
  return `${handle.slice(0, handle.length > 3 ? 2 : 1)}••`;
}

/** An email address, an international number, or a handle in text. A number has no digits of an address. */
const EMAIL = /[^\s"'<>()[\],;:@/=]{1,64}@[^\s"'<>()[\],;:@]{1,255}/u;
const NUMBER = /\+\d(?:[\s().-]?\d){6,14}(?!\d*@[^\s"'<>()[\],;:@])/u;
const HANDLE = /(?<![\w.])@[A-Za-z0-9_][\w.-]{0,63}/u;
const CONTACT = new RegExp([EMAIL, NUMBER, HANDLE].map(({ source }) => source).join('|'), 'gu');

/** A number with the length of a phone number outside IDs, amounts and dates. */
const DIGITS = /(?<![\w.+-])\d{7,15}(?![\w-])/g;

/** Masks everything that looks like a contact in text, for readers without `audit:pii`. */
export function maskContacts(text: string): string {
  // every contact has one and few texts do, which makes exports of millions of texts fast
  if (!/[@+]/.test(text)) return text;
  return text.replace(CONTACT, (contact: string, at: number) => {
    if (isMasked(contact, text.slice(at + contact.length, at + contact.length + 2))) return contact;
    if (contact.startsWith('+') && !contact.includes('@')) return maskPhone(contact);
    return contact.startsWith('@') ? maskHandle(contact) : maskEmail(contact);
  });
}

/** Returns whether a contact is already masked. Records are masked when written and when read. */
function isMasked(contact: string, after: string): boolean {
  return contact.includes('••@') || (contact.length === 2 && after === '••');
}

/** Masks sentences (`the number 2348012345678 is not valid`), where a long number is rarely an ID. */
export function maskProse(text: string): string {
  return maskContacts(text).replace(DIGITS, DOTS);
}

/** Returns whether text contains something that looks like a contact. */
export function namesContact(text: string): boolean {
  return text.search(CONTACT) >= 0;
}

/**
 * A contact in an idempotency key. Keys consist of dates, paths and base64. So `@` after a word counts only
 * before a domain with a dot, `@` elsewhere only before a name with a letter or as the whole key, and a
 * number not in the middle of base64.
 */
const CONTACT_IN_KEY =
  /^@\w[\w.-]*$|(?<!\w)@\d*[a-z_]|[^\s@]@(?:[a-z0-9-]+\.)+[a-z]{2}|\+\d(?:[().-]{0,2}\d){6,14}(?![\w+=])/i;

/** Returns whether an idempotency key contains a contact. */
export function keyNamesContact(key: string): boolean {
  return CONTACT_IN_KEY.test(key);
}

/** Masks an idempotency key that contains a contact, for readers without `audit:pii`. */
export function maskKey(key: string): string {
  return keyNamesContact(key) ? maskContacts(key) : key;
}

export const CODE_OF_BENIN = '+229';

/**
 * Returns the spellings of a phone number in digits: with its country code, after 00, and as dialed at home,
 * after 0. A country code has one to three digits. The others than the first begin with 0, except in Benin.
 * @param phone in international form.
 */
export function numberForms(phone: string): string[] {
  const digits = phone.slice(1);
  const national = [1, 2, 3]
    .filter((code) => digits.length - code >= 7)
    .map((code) => `0${digits.slice(code)}`);
  // Until 30 November 2024, numbers of Benin had no 01 before their last eight digits.
  const former = /^22901\d{8}$/.test(digits) ? [`229${digits.slice(5)}`, digits.slice(5)] : [];
  return [digits, `00${digits}`, ...national, ...former];
}

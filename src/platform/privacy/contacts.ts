/** Stands for what is hidden. */
export const DOTS = '••••';

/** Enough of a recipient to recognise who one already knows, too little to find out who it is. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const [first, second] = email.slice(0, at); // by whole characters: half of one could not be stored
  return `${second === undefined ? '' : first}••${email.slice(at)}`;
}

/** Hides four digits at least, of the shortest numbers too. */
export function maskPhone(phone: string): string {
  return `${phone.slice(0, 4)}${DOTS}${phone.slice(Math.max(8, phone.length - 4))}`;
}

export function maskHandle(handle: string): string {
  return `${handle.slice(0, handle.length > 3 ? 2 : 1)}••`;
}

/** An e-mail, an international number, a handle, standing in a text. A number ends before the digits that an e-mail begins with. */
const CONTACT =
  /[^\s"'<>()[\],;:@/=]{1,64}@[^\s"'<>()[\],;:@]{1,255}|\+\d(?:[\s().-]?\d){6,14}(?!\d*@[^\s"'<>()[\],;:@])|(?<![\w.])@[A-Za-z0-9_][\w.-]{0,63}/gu;

/** A number of a phone's length that is no part of an id, an amount or a date. */
const DIGITS = /(?<![\w.+-])\d{7,15}(?![\w-])/g;

/** Text that should name no person, as somebody without `audit:pii` may see it: what looks like a contact is masked. */
export function maskContacts(text: string): string {
  if (!/[@+]/.test(text)) return text; // every contact has one, and few texts do: an export masks millions
  return text.replace(CONTACT, (contact: string, at: number) => {
    if (isMasked(contact, text.slice(at + contact.length, at + contact.length + 2))) return contact;
    if (contact.startsWith('+') && !contact.includes('@')) return maskPhone(contact);
    return contact.startsWith('@') ? maskHandle(contact) : maskEmail(contact);
  });
}

/** Records are masked when they are written, and again when they are shown to some. */
function isMasked(contact: string, after: string): boolean {
  return contact.includes('••@') || (contact.length === 2 && after === '••');
}

/** The same for sentences (`the number 2348012345678 is not valid`), in which an id hardly stands alone. */
export function maskProse(text: string): string {
  return maskContacts(text).replace(DIGITS, DOTS);
}

/** Whether a text has what looks like a contact in it. */
export function namesContact(text: string): boolean {
  return text.search(CONTACT) >= 0;
}

/**
 * How a phone number is written in digits alone: with the country code, behind a 00, and as it is dialled at home, behind a 0
 * (a country code has one to three digits).
 * @param phone in international form.
 */
export function numberForms(phone: string): string[] {
  const digits = phone.slice(1);
  const national = [1, 2, 3].filter((code) => digits.length - code >= 7).map((code) => `0${digits.slice(code)}`);
  return [digits, `00${digits}`, ...national];
}

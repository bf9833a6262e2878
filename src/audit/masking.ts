const DOTS = '••••';

/** Enough of a recipient to recognise who one already knows, too little to find out who it is. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${at > 1 ? email.slice(0, 1) : ''}••${email.slice(at)}`;
}

/** Hides four digits at least, of the shortest numbers too. */
export function maskPhone(phone: string): string {
  return `${phone.slice(0, 4)}${DOTS}${phone.slice(Math.max(8, phone.length - 4))}`;
}

export function maskHandle(handle: string): string {
  return `${handle.slice(0, handle.length > 3 ? 2 : 1)}••`;
}

/** An e-mail, an international number, a handle, standing in a text. */
const CONTACT =
  /[^\s"'<>()[\],;:@/=]{1,64}@[^\s"'<>()[\],;:@]{1,255}|\+\d(?:[\s().-]?\d){6,14}|(?<![\w.])@[A-Za-z0-9_][\w.-]{0,63}/g;

/** A number of a phone's length that is no part of an id, an amount or a date. */
const DIGITS = /(?<![\w.+-])\d{7,15}(?![\w-])/g;

/** Text that should name no person, as somebody without `audit:pii` may see it: what looks like a contact is masked. */
export function maskContacts(text: string): string {
  if (!/[@+]/.test(text)) return text; // every contact has one, and few texts do: an export masks millions
  return text.replace(CONTACT, (contact) => {
    if (contact.startsWith('+') && !contact.includes('@')) return maskPhone(contact);
    return contact.startsWith('@') ? maskHandle(contact) : maskEmail(contact);
  });
}

/** The same for sentences (`the number 2348012345678 is not valid`), in which an id hardly stands alone. */
export function maskProse(text: string): string {
  return maskContacts(text).replace(DIGITS, DOTS);
}

/** Fields that mean no person. Whatever else a body holds is masked whole: the upstream's fields are not ours to know. */
const SHOWN = new Set([
  ...['valueInUSD', 'amount', 'currency', 'wallet', 'countryToSend', 'country', 'momoCode', 'reference', 'receiver'],
  ...['chiRef', 'id', 'issueID', 'tnxID', 'requestId', 'issueDate', 'type', 'code', 'tx_ref', 'walletID'],
  ...['originCurrency', 'amountInOriginCurrency', 'destinationCurrency', 'amountInDestinationCurrency', 'amountInUSD'],
  'validUntil',
]);

/** Those in which the upstream writes sentences. */
const PROSE = new Set(['status', 'error', 'errorMessage']);

/** Fields of sums; other numbers may be a phone's. */
const NUMBERS = new Set(['credit', 'fee', 'balance', 'balanceBefore', 'newBalance']);

/** Free-form: the very names in it are somebody's own, and those of ours mean something else there. */
const FREE_FORM = new Set(['meta']);

/** A body as somebody without `audit:pii` may see it: its shape, and the fields that name no person. */
export function maskBody(value: unknown, key = ''): unknown {
  // Sums do not come in lists of numbers.
  if (Array.isArray(value)) return value.map((element) => maskBody(element, typeof element === 'number' ? '' : key));
  if (typeof value === 'object' && value !== null) {
    if (FREE_FORM.has(key)) return DOTS;
    // Lists were seen written as maps: a name can be a contact too.
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [maskProse(name), maskBody(inner, name)]));
  }
  if (typeof value === 'number') return SHOWN.has(key) || NUMBERS.has(key) ? value : DOTS;
  if (typeof value !== 'string' || value === '') return value;
  if (PROSE.has(key)) return maskProse(value);
  return SHOWN.has(key) ? maskContacts(value) : DOTS;
}

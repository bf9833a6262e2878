const DOTS = '••••';

/** Enough of a recipient to recognise who one already knows, too little to find out who it is. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}••${email.slice(at)}`;
}

export function maskPhone(phone: string): string {
  return `${phone.slice(0, 4)}${DOTS}${phone.slice(-4)}`;
}

export function maskHandle(handle: string): string {
  return `${handle.slice(0, 2)}••`;
}

/** Fields of bodies that name no person; the text of every other one is masked. */
const SHOWN = new Set([
  ...['status', 'type', 'code', 'error', 'valueInUSD', 'amount', 'wallet', 'countryToSend', 'country', 'momoCode'],
  ...[
    'reference',
    'chiRef',
    'id',
    'issueID',
    'tnxID',
    'issueDate',
    'receiver',
    'currency',
    'errorMessage',
    'requestId',
  ],
]);

/** A body as somebody without `audit:pii` may see it: its shape, numbers and the fields that name no person. */
export function maskBody(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => maskBody(element, key));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskBody(inner, name)]));
  }
  return typeof value === 'string' && value !== '' && !SHOWN.has(key) ? DOTS : value;
}

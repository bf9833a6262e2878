import { GrantField } from './limit-fields';

/** The longest text of a field. Longer ones would not fit in a token. */
export const MAX_PROVIDER_TEXT = 500;

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const PLACE = `https, at most ${MAX_PROVIDER_TEXT} characters, without a user, a password and a fragment. On this machine, http is allowed`;

/** A field with a URL of a provider. */
export function placeField(name: string): GrantField {
  return textField(name, `must be a URL with ${PLACE}`, isPlace);
}

/** A field with a name that a provider uses. */
export function wordField(name: string): GrantField {
  return textField(name, `must be 1 to ${MAX_PROVIDER_TEXT} printable ASCII characters without spaces`, isWord);
}

function textField(name: string, must: string, isValid: (value: string) => boolean): GrantField {
  return { name, column: 'text', must, test: (value) => typeof value === 'string' && isValid(value) };
}

function isWord(value: string): boolean {
  return value.length <= MAX_PROVIDER_TEXT && /^[!-~]+$/.test(value);
}

/** Whether text is a URL that nobody on the way can answer for. A URL without a certificate leads to this machine. */
function isPlace(value: string): boolean {
  if (!isWord(value) || !URL.canParse(value) || value.includes('#')) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
  return isSafe && username === '' && password === '';
}

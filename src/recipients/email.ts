import { domainToASCII } from 'node:url';
import { plainText, smallLetters } from './plain-text';

/** Spaces, and the signs of masks. A masked address names nobody. */
const NO_ADDRESS = /[\s@*•]/;

/**
 * Returns the canonical key of an email address in any spelling: in lower case, with its domain in ASCII (IDNA, RFC 5891). Null for
 * text that is no address. The SQL function email_key() returns the same.
 */
export function emailKey(text: string): string | null {
  const plain = smallLetters(plainText(text));
  const at = plain.lastIndexOf('@');
  const local = plain.slice(0, Math.max(0, at));
  const domain = asciiDomain(plain.slice(at + 1));
  if (local === '' || domain === '' || NO_ADDRESS.test(local) || NO_ADDRESS.test(domain)) return null;
  return `${local}@${domain}`;
}

/** Returns a domain with its labels in ASCII, and without the dot of the root. Empty for a domain that cannot exist. */
function asciiDomain(domain: string): string {
  const ascii = /^[\x21-\x7e]*$/.test(domain) ? domain : domainToASCII(domain);
  return ascii.replace(/\.$/, '');
}

import { domainToASCII } from 'node:url';
import { asPlanned, callingCodeOf, lengthsAfter, Line } from './numbering-plan';
import { invisibleReason, plainText, smallLetters } from './plain-text';

/** The canonical spelling of a recipient's name, or the reason for a missing one. */
type Spelling =
  | { canonical: string }
  | {
      /** The fault of the text, as a sentence without its full stop. Undefined for an unknown form. */
      reason?: string;
      /** Canonical spelling of the probably intended name. */
      suggestion?: string;
    };

/** Spaces and the signs of masks. A masked address identifies no recipient. */
const NO_ADDRESS = /[\s@*•]/;

/**
 * Returns the canonical key of an email address in any spelling: in lower case, with its domain in ASCII
 * (IDNA, RFC 5891). Null for other text. Mirrors the SQL function email_key().
 */
function emailKey(text: string): string | null {
  const plain = smallLetters(plainText(text));
  const at = plain.lastIndexOf('@');
  const local = plain.slice(0, Math.max(0, at));
  const domain = asciiDomain(plain.slice(at + 1));
  if (local === '' || domain === '' || NO_ADDRESS.test(local) || NO_ADDRESS.test(domain)) return null;
  return `${local}@${domain}`;
}

/** Returns a domain with its labels in ASCII, without the root's dot. Empty for an impossible domain. */
function asciiDomain(domain: string): string {
  const ascii = /^[\x21-\x7e]*$/.test(domain) ? domain : domainToASCII(domain);
  return ascii.replace(/\.$/, '');
}

/** Characters that people write between digits. */
export const SEPARATORS = /[\s()./·\u2212\p{Pd}]/gu;

const CANONICAL = /^\+[1-9]\d{6,14}$/;

/** A number in international form without separators, as almost all are. */
const INTERNATIONAL = /^\+[1-9]\d{6,23}$/;

/** Prefix of a number in its national form. Its country is unknown, so it equals no international number. */
const AT_HOME = 'tel:';

/**
 * Returns the canonical key of a phone number in any spelling: `+` and the digits of its international form,
 * by its numbering plan. A number in national form has a key of its own. Null for other text, such as a
 * masked number. Mirrors the SQL function phone_key().
 */
export function phoneKey(text: string): string | null {
  if (INTERNATIONAL.test(text)) {
    const digits = text.slice(1);
    const planned = asPlanned(digits);
    return planned === digits ? text : `+${planned}`;
  }
  const written = plainText(text).replace(SEPARATORS, '');
  const [, prefix, digits] = /^(\+|00)?(\d{7,24})$/.exec(written) ?? [];
  if (digits === undefined) return null;
  if (prefix === undefined && digits.startsWith('0')) return AT_HOME + digits.replace(/^0+/, '');
  return `+${asPlanned(digits.replace(/^0+/, ''))}`;
}

/** Reads a phone number for a payment. Accepts only its canonical key, at a possible length. */
function readPhone(text: string, line: Line): Spelling {
  const key = phoneKey(text);
  // Without + or 00, a calling code cannot be recognized.
  if (key === null || (key !== text && !/^(?:\+|00)/.test(plainText(text)))) return invisibleReason(text);
  const impossible = impossibility(key, line);
  if (impossible !== undefined) return { reason: impossible };
  return text === key ? { canonical: key } : { ...invisibleReason(text), suggestion: key };
}

/** Returns the reason why no number can have these digits. Undefined for a possible number. */
function impossibility(key: string, line: Line): string | undefined {
  const digits = key.slice(1);
  const code = callingCodeOf(digits);
  const lengths = lengthsAfter(code)?.[line];
  if (!lengths || !CANONICAL.test(key)) return 'No country has such a number';
  const length = digits.length - code.length;
  if (lengths.has(length)) return undefined;
  const kind = line === 'mobile' ? 'Mobile numbers' : 'Numbers';
  const expected = [...lengths].sort((one, other) => one - other).join(' or ');
  return `${kind} with the country code +${code} have ${expected} digits after it. This one has ${length}`;
}

/** The kinds of names that recipients have. A receiver is a sub-account of the upstream. */
export const RECIPIENT_KINDS = ['email', 'phone', 'handle', 'receiver'] as const;
export type RecipientKind = (typeof RECIPIENT_KINDS)[number];

const HANDLE = /^@*[a-z0-9_][a-z0-9_.-]{0,63}$/;
const MASKED = /[*•]/;

/**
 * Returns the canonical key of a recipient's name in any spelling. Two names belong to one recipient if and
 * only if their keys are equal. Null for other text, such as a masked name. Mirrors the SQL function
 * recipient_key().
 * See docs/internals/decisions/money/0060-one-key-for-each-recipient.md.
 * @example recipientKey('phone', '+254 0712 345678') // '+254712345678'
 * @example recipientKey('email', 'Ada@bücher.example') // 'ada@xn--bcher-kva.example'
 */
export function recipientKey(kind: RecipientKind, name: string): string | null {
  switch (kind) {
    case 'email':
      return emailKey(name);
    case 'phone':
      return phoneKey(name);
    case 'handle':
      return handleKey(name);
    case 'receiver':
      return receiverKey(name);
  }
}

/** Returns whether a key is a number in national form, and may be that of an international one. */
export function mayBeNationalForm(key: string, international: string): boolean {
  return key.startsWith(AT_HOME) && international.endsWith(key.slice(AT_HOME.length));
}

/** Returns the kind of a canonical key. */
export function kindOfKey(key: string): RecipientKind {
  if (key.startsWith('+') || key.startsWith(AT_HOME)) return 'phone';
  if (key.startsWith('@')) return 'handle';
  return key.includes('@') ? 'email' : 'receiver';
}

function handleKey(name: string): string | null {
  const handle = smallLetters(plainText(name));
  return HANDLE.test(handle) ? handle.replace(/^@*/, '@') : null;
}

/** A sub-account is named by its user ID or by a contact of its holder. */
function receiverKey(name: string): string | null {
  const plain = plainText(name);
  if (plain === '' || MASKED.test(plain)) return null;
  if (plain.startsWith('@')) return handleKey(plain);
  if (plain.includes('@')) return emailKey(plain);
  return plain.startsWith('+') ? phoneKey(plain) : plain;
}

/**
 * Reads a recipient's name for a payment. Accepts only the canonical spelling, and the letters A to Z for a
 * to z. Another spelling would be the same recipient for the proxy, but perhaps not for the upstream.
 */
export function readRecipient(kind: RecipientKind, name: string, line: Line = 'any'): Spelling {
  if (kind === 'phone') return readPhone(name, line);
  const key = recipientKey(kind, name);
  if (kind === 'receiver' && key !== null && kindOfKey(key) === 'phone') return readPhone(name, line);
  if (key === null) return {};
  const small = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (name === key || small === key) return { canonical: name };
  return { ...invisibleReason(name), suggestion: key };
}

/** A name that reaches a person, and identifies recipients in records. */
export interface Contact {
  kind: 'email' | 'phone' | 'handle';
  /** Its canonical key. */
  key: string;
}

/**
 * Reads a contact in any spelling. Undefined for text other than an email address, an international phone
 * number, or a handle with its @.
 */
export function contactOf(text: string): Contact | undefined {
  const kind = contactKindOf(plainText(text));
  const key = kind && recipientKey(kind, text);
  return kind && key ? { kind, key } : undefined;
}

function contactKindOf(name: string): Contact['kind'] | undefined {
  if (name.startsWith('@')) return 'handle';
  if (name.includes('@')) return 'email';
  return /^(?:\+|00)/.test(name) ? 'phone' : undefined;
}

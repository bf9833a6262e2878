import { emailKey } from './email';
import { Line } from './numbering-plan';
import { AT_HOME, phoneKey, readPhone } from './phone';
import { invisibleReason, plainText, smallLetters } from './plain-text';
import { Spelling } from './spelling';

/** The kinds of names that recipients have. A receiver is a sub-account of the upstream. */
export const RECIPIENT_KINDS = ['email', 'phone', 'handle', 'receiver'] as const;
export type RecipientKind = (typeof RECIPIENT_KINDS)[number];

const HANDLE = /^@*[a-z0-9_][a-z0-9_.-]{0,63}$/;
const MASKED = /[*•]/;

/**
 * Returns the canonical key of a recipient's name in any spelling. Two names are of one recipient if and only if their keys are
 * equal. Null for text that is no such name, such as a masked one. The SQL function recipient_key() returns the same.
 *
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

/** A sub-account is named by its user ID, or by a contact of its holder. */
function receiverKey(name: string): string | null {
  const plain = plainText(name);
  if (plain === '' || MASKED.test(plain)) return null;
  if (plain.startsWith('@')) return handleKey(plain);
  if (plain.includes('@')) return emailKey(plain);
  return plain.startsWith('+') ? phoneKey(plain) : plain;
}

/**
 * Reads the name of a recipient who is to be paid. Only the canonical spelling is accepted, and the letters A to Z for a to z.
 * Other spellings would be the same recipient for the proxy, and perhaps another one for the upstream.
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

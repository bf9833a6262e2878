import { plainText } from './plain-text';
import { recipientKey } from './recipient';

/** A name by which a person can be reached, and by which records name recipients. */
export interface Contact {
  kind: 'email' | 'phone' | 'handle';
  /** Its canonical key. */
  key: string;
}

/** Reads a contact in any spelling. Undefined for text that is no email address, international phone number or handle with its @. */
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

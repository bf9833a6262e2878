import { suggestPhone } from './people-rules';

/** How a person can be reached, and is named in records. */
export interface Contact {
  kind: 'email' | 'phone' | 'handle';
  /** In the recorded form: a phone number in international form, a handle with its @. */
  value: string;
}

/** Reads a recipient. Returns undefined if it is no email address, international phone number, or handle. */
export function contactOf(recipient: string): Contact | undefined {
  const value = recipient.trim();
  const phone = suggestPhone(value);
  if (phone !== undefined) return { kind: 'phone', value: phone };
  if (/^@[\w.-]+$/.test(value)) return { kind: 'handle', value };
  return /^[^\s@]+@[^\s@]+$/.test(value) ? { kind: 'email', value } : undefined;
}

import { Beneficiary } from '../../access/clients/beneficiary';
import { contactOf } from './contact';
import { isText } from './rules';

const RECEIVER = /^receiver:(.+)$/s;
const MAX_RECEIVER = 255;

/** The forms of a recipient, as the end of a sentence that begins with its place. */
export const BENEFICIARY_MUST =
  'must be an email address, a phone number in international format, a handle with its @, or receiver: and the ID of a sub-account';

/** Reads a recipient of a register. Returns undefined for text in no known form. */
export function readBeneficiary(text: string): Beneficiary | undefined {
  const [, receiver] = RECEIVER.exec(text.trim()) ?? [];
  const named = receiver?.trim() ?? text;
  // A sub-account that is named by a contact is compared like a person.
  const contact = receiver === undefined || /^\+|@/.test(named) ? contactOf(named) : undefined;
  if (contact) return { kind: contact.kind, name: contact.value };
  return receiver !== undefined && isText(named, MAX_RECEIVER) ? { kind: 'receiver', name: named } : undefined;
}

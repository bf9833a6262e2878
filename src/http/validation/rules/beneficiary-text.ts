import { Beneficiary } from '../../../access/clients/register-writes';
import { contactOf, kindOfKey, readRecipient, recipientKey } from '../../../recipients/recipient';
import { isText } from './text';

const RECEIVER = /^receiver:(.+)$/s;
const MAX_RECEIVER = 255;

/** The forms of a recipient, as the end of a sentence. */
export const BENEFICIARY_MUST =
  'must be an email address, a phone number in international format, a handle with its @, or receiver: ' +
  'and the ID of a sub-account';

/**
 * Reads a recipient of a register in any spelling. Undefined for text in no known form, and for an impossible
 * phone number, because its entry would have no effect.
 */
export function readBeneficiary(text: string): Beneficiary | undefined {
  const [, receiver] = RECEIVER.exec(text.trim()) ?? [];
  if (receiver !== undefined && !isText(receiver, MAX_RECEIVER)) return undefined;
  const key = receiver === undefined ? contactOf(text)?.key : recipientKey('receiver', receiver);
  if (key === undefined || key === null) return undefined;
  const kind = kindOfKey(key);
  return 'canonical' in readRecipient(kind, key, receiver === undefined ? 'mobile' : 'any')
    ? { kind, key }
    : undefined;
}

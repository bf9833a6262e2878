import { hash } from 'node:crypto';
import { RecipientKind, recipientSpelling } from '../../operations/recipient-spelling';
import { maskEmail, maskHandle, maskPhone } from '../../platform/privacy/contacts';

/** The lists of a client's register: whom it may pay, and whom it never pays. */
export const REGISTER_LISTS = ['allowed', 'blocked'] as const;
export type RegisterList = (typeof REGISTER_LISTS)[number];

/** A recipient of a register, by the kind of its name. */
export interface Beneficiary {
  kind: RecipientKind;
  name: string;
}

/**
 * Returns the key by which a register recognises a recipient, however the name is written. It includes the client, so that
 * the registers of two clients cannot be compared.
 */
export function beneficiaryKey(clientId: string, { kind, name }: Beneficiary): Buffer {
  const spelling = recipientSpelling(kind, name.normalize('NFC'));
  return hash('sha256', JSON.stringify(['beneficiary', clientId, spelling]), 'buffer');
}

/** A recipient as a register stores it. */
export interface StoredRecipient {
  kind: string;
  recipient: Uint8Array<ArrayBuffer>;
  masked: string | null;
}

export function storedRecipient(clientId: string, one: Beneficiary): StoredRecipient {
  return { kind: one.kind, recipient: new Uint8Array(beneficiaryKey(clientId, one)), masked: maskBeneficiary(one) };
}

/** Returns the recipient for people, who recognise it only if they know it. IDs of sub-accounts are not masked. */
function maskBeneficiary({ kind, name }: Beneficiary): string {
  return MASKS[kind](name);
}

const MASKS: Record<RecipientKind, (name: string) => string> = {
  email: maskEmail,
  phone: maskPhone,
  handle: maskHandle,
  receiver: (name) => name,
};

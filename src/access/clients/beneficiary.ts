import { hash } from 'node:crypto';
import { RecipientKind } from '../../recipients/recipient';
import { maskEmail, maskHandle, maskPhone } from '../../platform/privacy/contacts';

/** The lists of a client's register: whom it may pay, and whom it never pays. */
export const REGISTER_LISTS = ['allowed', 'blocked'] as const;
export type RegisterList = (typeof REGISTER_LISTS)[number];

/** A recipient of a register. */
export interface Beneficiary {
  kind: RecipientKind;
  /** Its canonical key. */
  key: string;
}

/**
 * Returns the hash by which a register recognises a recipient. It includes the client, so that the registers of two clients cannot be
 * compared.
 */
export function beneficiaryHash(clientId: string, key: string): Buffer {
  return hash('sha256', JSON.stringify(['beneficiary', clientId, key]), 'buffer');
}

/** A recipient as a register stores it. */
export interface StoredRecipient {
  kind: string;
  recipient: Uint8Array<ArrayBuffer>;
  masked: string | null;
}

export function storedRecipient(clientId: string, one: Beneficiary): StoredRecipient {
  return {
    kind: one.kind,
    recipient: new Uint8Array(beneficiaryHash(clientId, one.key)),
    masked: MASKS[one.kind](one.key),
  };
}

/** The recipient as people see it, who recognize it only if they know it. IDs of sub-accounts are not masked. */
const MASKS: Record<RecipientKind, (key: string) => string> = {
  email: maskEmail,
  phone: maskPhone,
  handle: maskHandle,
  receiver: (id) => id,
};

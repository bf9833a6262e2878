import { hash } from 'node:crypto';
import { Item } from '../operations/item';
import { RecipientKind } from '../operations/recipient-spelling';
import { AdmissionRequest } from '../policy/admission';
import { Payment } from '../policy/recipient-days';
import { recordedItems } from './recorded-items';

/** A name of the recipient of an item. */
export interface Payee {
  field: RecipientKind;
  payee: string;
  /** Whether the upstream pays by this name. */
  counts: boolean;
}

/** Returns the names of an item's recipient. Equal recipients have equal names. */
export function payeesOf({ recipientField, email, phone, handle, receiver }: Item): Payee[] {
  const contacts = { phone, email: email?.toLowerCase() ?? null, handle: handle?.toLowerCase() ?? null };
  const isReceiver = recipientField === 'receiver';
  const named = Object.entries(contacts).flatMap(([field, payee]): Payee[] =>
    payee === null ? [] : [{ field: field as Payee['field'], payee, counts: isReceiver || recipientField === field }],
  );
  // The stored user ID of a sub-account is a mask if it is a contact.
  if (receiver !== null) named.push({ field: 'receiver', payee: receiver, counts: isReceiver && named.length === 0 });
  return named;
}

/** The parts of a request by which its content is recognised. */
type OwnContent = Pick<AdmissionRequest, 'clientId' | 'endUserId' | 'operation' | 'content'>;

/** Returns the key by which the same content of a client, or of an end user, is recognised (SHA-256). */
export function contentKey({ clientId, endUserId, operation, content }: OwnContent): Buffer {
  const whose = endUserId === null ? clientId : `${clientId} ${endUserId}`;
  return sha256(`${whose}\n${operation}\n${content}`);
}

/**
 * Returns the keys by which the same payments of any client are recognised: one for each name of a recipient, with the
 * amount.
 */
export function paymentKeys(items: Item[], which: (payee: Payee) => boolean = () => true): Buffer[] {
  return recordedItems(items).flatMap((item) => {
    const usd = item.amountUsd?.toFixed();
    if (usd === undefined) return [];
    return payeesOf(item)
      .filter(which)
      .map(({ field, payee }) => sha256(JSON.stringify(['payment', field, payee, usd])));
  });
}

/**
 * Returns what each recipient of a client gets, by the name that the upstream pays by. Items without a recipient or an
 * amount are left out.
 */
export function paymentsTo(clientId: string, items: Item[]): Payment[] {
  return recordedItems(items).flatMap((item, position) => {
    const usd = item.amountUsd;
    if (usd === null) return [];
    return payeesOf(item)
      .filter(({ counts }) => counts)
      .map(({ field, payee }) => {
        const recipient = sha256(JSON.stringify(['recipient', clientId, field, payee])).toString('hex');
        return { position, recipient, usd };
      });
  });
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

import { hash } from 'node:crypto';
import { Item } from '../operations/item';
import { paidName, RecipientName, recipientNames } from '../operations/recipient-names';
import { AdmissionRequest } from '../policy/admission';
import { Payment } from '../policy/recipient-days';

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
export function paymentKeys(items: Item[], which: (name: RecipientName) => boolean = () => true): Buffer[] {
  return items.flatMap((item) => {
    const usd = item.amountUsd?.toFixed();
    if (usd === undefined) return [];
    return recipientNames(item)
      .filter(which)
      .map(({ key }) => sha256(JSON.stringify(['payment', key, usd])));
  });
}

/**
 * Returns what each recipient of a client gets, by the name that the upstream pays by. Items without a recipient or an
 * amount are left out.
 */
export function paymentsTo(clientId: string, items: Item[]): Payment[] {
  return items.flatMap((item, position) => {
    const [usd, paid] = [item.amountUsd, paidName(item)];
    if (usd === null || paid === undefined) return [];
    const recipient = sha256(JSON.stringify(['recipient', clientId, paid.key])).toString('hex');
    return [{ position, recipient, usd }];
  });
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

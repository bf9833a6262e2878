import { RecipientKind, recipientKey } from '../recipients/recipient';
import { Item } from './item';

/** A name of the recipient of an item. */
export interface RecipientName {
  kind: RecipientKind;
  /** Its canonical key. */
  key: string;
  /** Whether the upstream pays by this name. */
  counts: boolean;
}

type Named = Pick<Item, 'recipientField' | 'email' | 'phone' | 'handle' | 'receiver'>;

/**
 * Returns the names of an item's recipient. A sub-account that is named by a contact has the contact in its own field in a record, and
 * as `receiver` in a request. Both have the same key.
 */
export function recipientNames({ recipientField, email, phone, handle, receiver }: Named): RecipientName[] {
  const isReceiver = recipientField === 'receiver';
  const names: RecipientName[] = [];
  const add = (kind: RecipientKind, name: string | null, counts: boolean) => {
    const key = name === null ? null : recipientKey(kind, name);
    if (key !== null) names.push({ kind, key, counts });
  };
  add('phone', phone, isReceiver || recipientField === 'phone');
  add('email', email, isReceiver || recipientField === 'email');
  add('handle', handle, isReceiver || recipientField === 'handle');
  add('receiver', receiver, isReceiver && names.length === 0);
  return names;
}

/** Returns the name that the upstream pays an item by. Undefined if it pays nobody. */
export function paidName(item: Named): RecipientName | undefined {
  return recipientNames(item).find(({ counts }) => counts);
}

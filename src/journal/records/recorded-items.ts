import { Item, phonesOf } from '../../operations/items/item';
import { maskEmail, maskHandle, maskPhone } from '../../platform/privacy/contacts';
import { asRecorded, writtenNumbers } from '../../platform/privacy/recorded';

/** Contacts with a column of their own. */
const KINDS: { column: 'email' | 'phone' | 'handle'; form: RegExp; mask: (value: string) => string }[] = [
  { column: 'phone', form: /^\+[1-9]\d{6,14}$/, mask: maskPhone },
  { column: 'handle', form: /^@[A-Za-z0-9_][\w.-]{0,63}$/, mask: maskHandle },
  { column: 'email', form: /^[^\s@]{1,64}@[^\s@]{1,255}$/, mask: maskEmail },
];

/** Returns the items of a call in recorded form. Contacts in texts are masked, because records stay. */
export function recordedItems(items: Item[]): Item[] {
  const people = items.map(recordedReceiver);
  const numbers = writtenNumbers(phonesOf(people));
  return people.map((item) => ({
    ...item,
    country: asRecorded(item.country, numbers),
    networkCode: asRecorded(item.networkCode, numbers),
    reference: asRecorded(item.reference, numbers),
    receiver: asRecorded(item.receiver),
    wallet: asRecorded(item.wallet, numbers),
    upstreamRef: asRecorded(item.upstreamRef, numbers),
  }));
}

/**
 * Masks a sub-account's user ID that is a contact. It is then stored like a recipient, to be erased and
 * compared. Other user IDs identify no person.
 */
function recordedReceiver(item: Item): Item {
  const { receiver } = item;
  const kind = receiver === null ? undefined : KINDS.find(({ form }) => form.test(receiver));
  if (!kind || receiver === null || item[kind.column] !== null) return item;
  return { ...item, [kind.column]: receiver, receiver: kind.mask(receiver) };
}

export type RecordedItem = ReturnType<typeof itemDocument>;

/** Returns a payout in the form of the record, which names no recipient. */
export function itemDocument(item: Item) {
  return {
    amount_usd: item.amountUsd?.toFixed(),
    country: item.country ?? undefined,
    handle_ignored: item.handleIgnored || undefined, // An email and a handle were given. The email is used.
    network_code: item.networkCode ?? undefined,
    receiver: item.receiver ?? undefined,
    recipient_field: item.recipientField ?? undefined,
    reference: item.reference ?? undefined,
    upstream_ref: item.upstreamRef ?? undefined,
    wallet: item.wallet ?? undefined,
  };
}

import { Decimal } from 'decimal.js';
import { recipientKey, RecipientKind } from '../../recipients/recipient';

/** One payout (or link, transfer, deletion, collection …) of a call, read from its body. */
export interface Item {
  /** The field that names the recipient. */
  recipientField: 'email' | 'phone' | 'handle' | 'receiver' | null;
  /** Whether the email replaced a handle (docs/reference/upstream.md, "Credit item", rule 2). */
  handleIgnored: boolean;
  email: string | null;
  phone: string | null;
  handle: string | null;
  amountUsd: Decimal | null;
  country: string | null;
  networkCode: string | null;
  reference: string | null;
  receiver: string | null;
  wallet: string | null;
  upstreamRef: string | null;
}

/** A phone number in international form. A caller may use one to name a sub-account. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** Returns the phone numbers in items, in international form. */
export function phonesOf(items: Pick<Item, 'phone' | 'receiver'>[]): string[] {
  const phones: string[] = [];
  for (const { phone, receiver } of items) {
    if (phone !== null && PHONE.test(phone)) phones.push(phone);
    if (receiver !== null && PHONE.test(receiver)) phones.push(receiver);
  }
  return phones;
}

/** Returns the exact sum of the items. Null if none has an amount. */
export function totalOf(items: Pick<Item, 'amountUsd'>[]): Decimal | null {
  const amounts = items.map(({ amountUsd }) => amountUsd).filter((amount) => amount !== null);
  return amounts.length === 0 ? null : Decimal.sum(...amounts);
}

/** A name of the recipient of an item. */
export interface RecipientName {
  kind: RecipientKind;
  /** Its canonical key. */
  key: string;
  /** Whether the upstream pays by this name. */
  counts: boolean;
}

type RecipientFields = Pick<Item, 'recipientField' | 'email' | 'phone' | 'handle' | 'receiver'>;

/**
 * Returns the names of an item's recipient. A sub-account named by a contact has the contact in a field of
 * its own in a record, and as `receiver` in a request. Both have the same key.
 */
export function recipientNames({
  recipientField,
  email,
  phone,
  handle,
  receiver,
}: RecipientFields): RecipientName[] {
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

/** Returns the name that the upstream pays an item by. Undefined if it pays no recipient. */
export function paidName(item: RecipientFields): RecipientName | undefined {
  return recipientNames(item).find(({ counts }) => counts);
}

/** Properties of a transaction that can differ from those of its item. */
export const DIFFERENCES = ['upstream_ref', 'recipient', 'type', 'amount'] as const;
export type Difference = (typeof DIFFERENCES)[number];

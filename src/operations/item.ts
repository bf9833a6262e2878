import { Decimal } from 'decimal.js';

/** One payout (or link, transfer, deletion, collection …) of a call, read from its body. */
export interface Item {
  /** The field that names the recipient. */
  recipientField: 'email' | 'phone' | 'handle' | 'receiver' | null;
  /**
   * Whether an email and a handle were given. The email is used (docs/reference/upstream.md, "Credit item", rule 2).
   */
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

/** A phone number in international form. Callers may name a sub-account by one. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** Returns the phone numbers in items, in international form. */
export function phonesOf(items: Pick<Item, 'phone' | 'receiver'>[]): string[] {
  const named = items.flatMap(({ phone, receiver }) => [phone, receiver]);
  return named.filter((one): one is string => one !== null && PHONE.test(one));
}

/** Returns the exact sum of the items. Null if none states an amount. */
export function totalOf(items: Pick<Item, 'amountUsd'>[]): Decimal | null {
  const amounts = items.flatMap(({ amountUsd }) => (amountUsd === null ? [] : [amountUsd]));
  return amounts.length === 0 ? null : Decimal.sum(...amounts);
}

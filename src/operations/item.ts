import { Decimal } from 'decimal.js';

/** One payout (or link, transfer, deletion, collection …) of a call, read out of its body. */
export interface Item {
  /** Which of its names says who is paid. */
  recipientField: 'email' | 'phone' | 'handle' | 'receiver' | null;
  /** E-mail and handle were given: the e-mail is used (docs/reference/upstream.md, "Credit item", rule 2). */
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

/** A number in international form, as somebody may name a sub-account by it. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** The phone numbers in items, in international form. */
export function phonesOf(items: Pick<Item, 'phone' | 'receiver'>[]): string[] {
  const named = items.flatMap(({ phone, receiver }) => [phone, receiver]);
  return named.filter((one): one is string => one !== null && PHONE.test(one));
}

/** What items are worth together, exactly; null where none says what it is worth. */
export function totalOf(items: Pick<Item, 'amountUsd'>[]): Decimal | null {
  const amounts = items.flatMap(({ amountUsd }) => (amountUsd === null ? [] : [amountUsd]));
  return amounts.length === 0 ? null : Decimal.sum(...amounts);
}

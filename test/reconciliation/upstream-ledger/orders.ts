import type { Account } from '../../support/simulator/account';
import { Kind, recipientOf } from '../../support/simulator/ledger';

/** Habits of clients. Each follows only what the API advises. */
export const HABITS = ['once', 'same-key', 'new-key', 'at-once', 'equal'] as const;
export type Habit = (typeof HABITS)[number];

const PATHS = {
  airtime: '/payouts/airtime',
  momo: '/payouts/mobile-money',
  credit: '/payouts/credit',
} as const;

const KINDS = ['airtime', 'momo', 'credit'] as const;
export type PaidKind = (typeof KINDS)[number] & Kind;

/** One payout that a client wants. */
export interface OrderedItem {
  /** The phone number or email address. */
  recipient: string;
  usd: number;
}

/** A list of payouts that a client wants once, or several times on purpose. */
export interface Order {
  account: Account;
  /** Name of the upstream's behaviour towards its recipients. */
  lie: string;
  habit: Habit;
  kind: PaidKind;
  items: OrderedItem[];
  /** Times that the client wants each payout, within its cap. */
  wanted: number;
  client: { id: string; name: string; key: string };
}

/** Number of equal payments by the habit `equal`. Its cap refuses the last one. */
export const EQUAL_PAYMENTS = 3;
const EQUAL_WITHIN_CAP = 2;

/** Returns how often a client with a habit gets its payouts at most. */
export function wantedBy(habit: Habit): number {
  return habit === 'equal' ? EQUAL_WITHIN_CAP : 1;
}

export function kindOf(nth: number): PaidKind {
  return KINDS[nth % KINDS.length] as PaidKind;
}

/** Returns the path and the body of a request for some items. */
export function requestOf(kind: PaidKind, items: readonly OrderedItem[]): { path: string; body: object } {
  return { path: PATHS[kind], body: { [MEMBERS[kind]]: items.map((item) => ITEMS[kind](item)) } };
}

const MEMBERS: Record<PaidKind, string> = { airtime: 'airtimes', momo: 'momos', credit: 'credits' };

const ITEMS: Record<PaidKind, (item: OrderedItem) => object> = {
  airtime: ({ recipient, usd }) => ({ countryToSend: 'Kenya', phoneNumber: recipient, valueInUSD: usd }),
  momo: ({ recipient, usd }) => ({
    countryToSend: 'Kenya',
    phoneNumber: recipient,
    valueInUSD: usd,
    reference: '',
    momoCode: 'MPS',
  }),
  credit: ({ recipient, usd }) => ({ email: recipient, valueInUSD: usd }),
};

let people = 0;

/** Returns a person that no other order pays. */
export function newRecipient(kind: PaidKind): string {
  people += 1;
  return kind === 'credit' ? `person.${people}@example.com` : `+2547${String(people).padStart(8, '0')}`;
}

/** Returns the name of a recipient in the ledger of the upstream. */
export function nameOf(recipient: string): string {
  return recipientOf(recipient.includes('@') ? { email: recipient } : { phoneNumber: recipient });
}

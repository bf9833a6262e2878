import type { CallState } from './lifecycle';

/** An account of the ledger. Each entry of a payout moves its amount from one account to another. */
export const ACCOUNTS = ['available', 'reserved', 'in_transit', 'recipient', 'fees'] as const;

export type Account = (typeof ACCOUNTS)[number];

/** The state of a payout in the API. `held` payouts wait for an approval, `queued` ones for their turn. */
export const PAYOUT_STATES = [
  ...([
    'held',
    'queued',
    'reserved',
    'in_doubt',
    'pending',
    'paid',
    'failed',
    'reversed',
    'refunded',
    'not_executed',
  ] as const),
] as const;

export type PayoutState = (typeof PAYOUT_STATES)[number];

interface EntryMeaning {
  /** The account that holds the amount after the entry. */
  account: Account;
  /** Whether the amount counts on caps. */
  counts: boolean;
  state: PayoutState;
  /** Whether the state of the payout is known. It may still change. */
  known: boolean;
}

const AVAILABLE = { account: 'available', counts: false, known: true } as const;

/**
 * The entries of a payout in the settlement ledger. The last one is in effect. `in_doubt` moves nothing: the
 * upstream's statement about the payout is not understood. Mirrors the SQL function ledger_account().
 */
export const ENTRIES = {
  reserved: { account: 'reserved', counts: true, state: 'reserved', known: false },
  in_doubt: { account: 'reserved', counts: true, state: 'in_doubt', known: false },
  pending: { account: 'in_transit', counts: true, state: 'pending', known: true },
  paid: { account: 'recipient', counts: true, state: 'paid', known: true },
  redeemed: { account: 'recipient', counts: true, state: 'paid', known: true },
  failed: { ...AVAILABLE, state: 'failed' },
  expired: { ...AVAILABLE, state: 'failed' },
  reversed: { ...AVAILABLE, state: 'reversed' },
  refunded: { ...AVAILABLE, state: 'refunded' },
  not_executed: { ...AVAILABLE, state: 'not_executed' },
} as const satisfies Record<string, EntryMeaning>;

export type Entry = keyof typeof ENTRIES;

export function entriesThat(is: (meaning: EntryMeaning) => boolean): Entry[] {
  return (Object.keys(ENTRIES) as Entry[]).filter((entry) => is(ENTRIES[entry]));
}

/** The entries whose amount counts: the money has left, or may have. */
export const COUNTED = entriesThat(({ counts }) => counts);

/** The evidence of an entry. */
export const SOURCES = [
  ...(['request', 'answer', 'event', 'resolver', 'poll', 'reconciliation', 'person'] as const),
] as const;

export type Source = (typeof SOURCES)[number];

/** Next steps of an app for a payout. */
export const NEXT_STEPS = {
  held: 'await_approval',
  queued: 'wait',
  reserved: 'wait',
  in_doubt: 'wait',
  pending: 'wait',
  paid: 'none',
  failed: 'send_again',
  reversed: 'send_again',
  refunded: 'send_again',
  not_executed: 'send_again',
} as const satisfies Record<PayoutState, string>;

export type NextStep = (typeof NEXT_STEPS)[PayoutState];

/** The states of unanswered payouts, by the state of their call. */
const BEFORE_ANSWER: Partial<Record<CallState, PayoutState>> = {
  pending_approval: 'held',
  queued: 'queued',
  declined: 'not_executed',
  expired: 'not_executed',
  refused: 'not_executed',
  in_progress: 'reserved',
  unknown: 'in_doubt',
};

/** Returns the state of a payout. */
export function payoutStateOf(entry: Entry, call: CallState): PayoutState {
  return (entry === 'reserved' ? BEFORE_ANSWER[call] : undefined) ?? ENTRIES[entry].state;
}

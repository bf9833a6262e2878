import { CallState, STATES } from './lifecycle';
import { Counted, ENTRIES, entriesThat, Entry } from './settlement';

/**
 * The sums of payouts, in US dollars. Each payout is in one of the first four with its whole amount, so that they add up to what was
 * asked. The API, the console, exports and reports show them under these names.
 */
export const SUMS = {
  paid_usd: {
    entries: entriesThat(({ account }) => account === 'recipient'),
    help: 'Amounts that reached their recipients and did not come back, without fees.',
  },
  pending_usd: {
    entries: entriesThat(({ account }) => account === 'reserved' || account === 'in_transit'),
    help: 'Amounts that may still be paid: payouts that wait for an approval, for an answer or for their payer, and payouts in doubt.',
  },
  returned_usd: {
    entries: entriesThat(({ account, state }) => account === 'available' && state !== 'not_executed'),
    help: 'Amounts of payouts that failed or expired, or were reversed or refunded.',
  },
  not_executed_usd: {
    entries: entriesThat(({ state }) => state === 'not_executed'),
    help: 'Amounts of payouts that the payout service did not carry out.',
  },
} as const satisfies Record<string, { entries: Entry[]; help: string }>;

export type SumName = keyof typeof SUMS;

export const SUM_NAMES = Object.keys(SUMS) as SumName[];

export const FEES_HELP =
  'Fees that the upstream charged for paid and pending payouts. The fee of a payout comes back with its amount.';

/** The entry of payouts whose records have no other one, by what their call's state means. */
const USUAL_ENTRIES = { yes: 'paid', open: 'reserved', no: 'not_executed' } as const satisfies Record<string, Entry>;

/** Returns the entry of all payouts of a call in this state, unless their records say otherwise. The SQL function usual_entry() does the same. */
export function usualEntry(state: CallState): Entry {
  return USUAL_ENTRIES[STATES[state].executed];
}

/** Returns the sum to which a payout belongs with its whole amount. */
export function sumNameOf(entry: Entry, state: CallState): SumName {
  const last = entry === 'reserved' ? usualEntry(state) : entry;
  return SUM_NAMES.find((name) => SUMS[name].entries.includes(last)) ?? 'pending_usd';
}

/** Returns the fee of a payout that was charged and did not come back, as records and exports write it. Undefined if there is none. */
export function feeUsdOf({ entry, feeUsd }: Pick<Counted, 'entry' | 'feeUsd'>): string | undefined {
  return ENTRIES[entry].counts && !feeUsd.isZero() ? feeUsd.toFixed() : undefined;
}

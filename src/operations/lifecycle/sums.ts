import { CallState, STATES } from './lifecycle';
import { PayoutAmounts, ENTRIES, entriesThat, Entry } from './settlement';

/**
 * The sums of payouts, in US dollars. Each payout is in one of the first four with its whole amount, so they
 * add up to the requested total. The API, the console, exports and reports use these names.
 */
export const SUMS = {
  paid_usd: {
    entries: entriesThat(({ account }) => account === 'recipient'),
    help: 'Amounts that reached their recipients and did not come back, without fees.',
  },
  pending_usd: {
    entries: entriesThat(({ account }) => account === 'reserved' || account === 'in_transit'),
    help:
      'Amounts that may still be paid: payouts that wait for an approval, for an answer or for their ' +
      'payer, and payouts in doubt.',
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
  'Fees that the upstream charged for paid and pending payouts. The fee of a payout comes back with its ' +
  'amount.';

/** The entry of payouts without recorded entries, by the meaning of their call's state. */
const USUAL_ENTRIES = { yes: 'paid', open: 'reserved', no: 'not_executed' } as const satisfies Record<
  string,
  Entry
>;

/** Returns the default entry of payouts of a call in this state. Mirrors the SQL function usual_entry(). */
export function usualEntry(state: CallState): Entry {
  return USUAL_ENTRIES[STATES[state].executed];
}

/** Returns the sum that includes a payout's whole amount. */
export function sumNameOf(entry: Entry, state: CallState): SumName {
  const last = entry === 'reserved' ? usualEntry(state) : entry;
  return SUM_NAMES.find((name) => SUMS[name].entries.includes(last)) ?? 'pending_usd';
}

/** Returns the charged fee of a payout after refunds, as in records and exports. Undefined without a fee. */
export function feeUsdOf({ entry, feeUsd }: Pick<PayoutAmounts, 'entry' | 'feeUsd'>): string | undefined {
  return ENTRIES[entry].counts && !feeUsd.isZero() ? feeUsd.toFixed() : undefined;
}

import { StatusVocabulary } from '../../../src/operations/lifecycle/statuses';
import {
  Rules,
  ListedTransaction,
  RelatedTransaction,
  SentCall,
  ItemInDoubt,
} from '../../../src/reconciliation/in-doubt/calls-in-doubt';

/** Settings for generated calls in doubt and transactions, in tests of their verdicts. */

export const RULES: Rules = { quietMs: 100_000, rejectedQuietMs: 20_000, skewMs: 10_000 };
const START = Date.UTC(2026, 10, 21);
export const at = (seconds: number) => new Date(START + seconds * 1_000);
const SENDING_SECONDS = 5;
const usd = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}0000`;

export function sentCall(place: number, list: [number, number][], second: number): SentCall {
  return {
    id: `call ${place}`,
    operation: 'POST /payouts/airtime',
    items: list.map(itemInDoubt),
    sentFrom: at(second),
    sentUntil: at(second + SENDING_SECONDS),
    isRejected: false,
  };
}

function itemInDoubt([recipient, cents]: [number, number], position: number): ItemInDoubt {
  const names = [`p:25471234567${recipient}`];
  const amountUsd = usd(cents);
  return { position, names, amountUsd, reference: null, upstreamRef: null };
}

export const VOCABULARY = StatusVocabulary.with([]);

/** The fields of a transaction with this status word. */
export function worded(status: string | null): Pick<ListedTransaction, 'status' | 'meaning'> {
  return { status, meaning: VOCABULARY.statusOf(status) };
}

/** A transaction without a payout, with this amount. */
export function relatedTransaction(amountUsd: string): RelatedTransaction {
  return {
    read_id: 'read',
    ordinal: 0,
    position: null,
    upstream_ref: 'one',
    upstream_id: null,
    batch_ref: null,
    at: at(1).toISOString(),
    status: 'paid',
    amount_usd: amountUsd,
  };
}

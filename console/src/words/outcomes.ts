import type { CallRecord, RecordItem } from '../api/generated/schema';
import { inWords } from '../components/values/format';

type Outcome = CallRecord['outcome'];

/** Colors of outcomes, which repeat the information of the words. */
const OUTCOME_COLORS: Record<Outcome, string> = {
  succeeded: 'teal',
  rejected: 'orange',
  not_sent: 'gray',
  unknown: 'red',
  in_progress: 'blue',
  refused: 'gray',
  pending_approval: 'violet',
  queued: 'blue',
  confirmed: 'teal', // Confirmed later, which is as good as succeeded.
} as Record<Outcome, string>;

const OUTCOME_WORDS: Partial<Record<Outcome, string>> = {
  unknown: 'in doubt',
  pending_approval: 'pending approval',
  confirmed: 'confirmed',
  not_executed: 'not executed',
};

export const outcomeWords = (outcome: Outcome) => OUTCOME_WORDS[outcome] ?? inWords(outcome);
export const outcomeColor = (outcome: Outcome) => OUTCOME_COLORS[outcome] ?? 'gray';

type PayoutState = NonNullable<RecordItem['state']>;

export const PAYOUT_COLORS: Record<PayoutState, string> = {
  held: 'violet',
  queued: 'blue',
  reserved: 'blue',
  in_doubt: 'red',
  pending: 'blue',
  paid: 'teal',
  failed: 'orange',
  reversed: 'orange',
  refunded: 'orange',
  not_executed: 'gray',
};

import { Badge } from '@mantine/core';
import type { CallRecord, RecordItem } from '../../api/generated/schema';
import { inWords } from './format';

type Outcome = CallRecord['outcome'];

/** Colours show the outcome at a glance. The words carry the same information. */
const COLORS: Record<Outcome, string> = {
  succeeded: 'teal',
  rejected: 'orange',
  not_sent: 'gray',
  unknown: 'red',
  in_progress: 'blue',
  refused: 'gray',
  pending_approval: 'violet',
  confirmed: 'teal', // Confirmed later, which is as good as succeeded.
} as Record<Outcome, string>;

const WORDS: Partial<Record<Outcome, string>> = {
  unknown: 'in doubt',
  pending_approval: 'pending approval',
  confirmed: 'confirmed',
  not_executed: 'not executed',
};

export const outcomeWords = (outcome: Outcome) => WORDS[outcome] ?? inWords(outcome);
export const outcomeColor = (outcome: Outcome) => COLORS[outcome] ?? 'gray';

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return <WordBadge color={outcomeColor(outcome)}>{outcomeWords(outcome)}</WordBadge>;
}

type PayoutState = NonNullable<RecordItem['state']>;

const PAYOUT_COLORS: Record<PayoutState, string> = {
  held: 'violet',
  reserved: 'blue',
  in_doubt: 'red',
  pending: 'blue',
  paid: 'teal',
  failed: 'orange',
  reversed: 'orange',
  refunded: 'orange',
  not_executed: 'gray',
};

export function PayoutBadge({ state }: { state: PayoutState }) {
  return <WordBadge color={PAYOUT_COLORS[state]}>{inWords(state)}</WordBadge>;
}

/** Badge with a word and a colour. */
export function WordBadge({ color, children }: { color: string; children: string }) {
  return (
    <Badge variant="light" color={color} tt="none" fw={600} miw="max-content">
      {children}
    </Badge>
  );
}

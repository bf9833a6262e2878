import { Badge } from '@mantine/core';
import type { CallRecord, RecordItem } from '../../api/generated/schema';
import { outcomeColor, outcomeWords, PAYOUT_COLORS } from '../../words/outcomes';
import { inWords } from './format';

export function OutcomeBadge({ outcome }: { outcome: CallRecord['outcome'] }) {
  return <WordBadge color={outcomeColor(outcome)}>{outcomeWords(outcome)}</WordBadge>;
}

export function PayoutBadge({ state }: { state: NonNullable<RecordItem['state']> }) {
  return <WordBadge color={PAYOUT_COLORS[state]}>{inWords(state)}</WordBadge>;
}

/** Badge with a word and a color. */
export function WordBadge({ color, children }: { color: string; children: string }) {
  return (
    <Badge variant="light" color={color} tt="none" fw={600} miw="max-content">
      {children}
    </Badge>
  );
}

import { Badge } from '@mantine/core';
import type { CallRecord } from '../api/generated/schema';
import { inWords } from './format';

type Outcome = CallRecord['outcome'];

/** Colours say how it went at a glance; the words say it to everybody. */
const COLORS: Record<Outcome, string> = {
  succeeded: 'teal',
  rejected: 'orange',
  not_sent: 'gray',
  unknown: 'red',
  in_progress: 'blue',
  refused: 'gray',
  pending_approval: 'violet',
  confirmed: 'teal', // found carried out: as good as succeeded
} as Record<Outcome, string>;

const WORDS: Partial<Record<Outcome, string>> = {
  unknown: 'in doubt',
  pending_approval: 'waits for approval',
  confirmed: 'found carried out',
  not_executed: 'found not carried out',
};

export const outcomeWords = (outcome: Outcome) => WORDS[outcome] ?? inWords(outcome);
export const outcomeColor = (outcome: Outcome) => COLORS[outcome] ?? 'gray';

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return <WordBadge color={outcomeColor(outcome)}>{outcomeWords(outcome)}</WordBadge>;
}

/** A word with a colour. */
export function WordBadge({ color, children }: { color: string; children: string }) {
  return (
    <Badge variant="light" color={color} tt="none" fw={600} miw="max-content">
      {children}
    </Badge>
  );
}

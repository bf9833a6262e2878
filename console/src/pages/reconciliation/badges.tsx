import type { FindingRecord, RunRecord } from '../../api/generated/schema';
import { WordBadge } from '../../components/values/badges';
import { inWords } from '../../components/values/format';
import { Instant } from '../../components/values/values';
import { RESULT_COLORS, SEVERITY_COLORS, STATE_COLORS } from '../../words/reconciliation';
import { daysOf } from './days';

export function SeverityBadge({ of }: { of: Pick<FindingRecord, 'severity'> }) {
  return <WordBadge color={SEVERITY_COLORS[of.severity]}>{of.severity}</WordBadge>;
}

export function StateBadge({ state }: { state: FindingRecord['state'] }) {
  return <WordBadge color={STATE_COLORS[state]}>{state}</WordBadge>;
}

/** Returns whether a run is queued or running. */
export function isUnderWay({ state }: Pick<RunRecord, 'state'>): boolean {
  return state === 'queued' || state === 'running';
}

/** Shows the result of a run, or its state if it has not ended. */
export function ResultBadge({ run: { state, result } }: { run: Pick<RunRecord, 'state' | 'result'> }) {
  if (result === null)
    return <WordBadge color={isUnderWay({ state }) ? 'blue' : 'gray'}>{inWords(state)}</WordBadge>;
  return <WordBadge color={RESULT_COLORS[result]}>{inWords(result)}</WordBadge>;
}

export function Period({ from, to }: { from: string; to: string }) {
  const days = daysOf(from, to);
  if (days !== undefined) return <span style={{ whiteSpace: 'nowrap' }}>{days}</span>;
  return (
    <>
      <Instant at={from} /> – <Instant at={to} />
    </>
  );
}

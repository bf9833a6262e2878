import type { FindingRecord, RunRecord } from '../../api/generated/schema';
import { WordBadge } from '../../components/values/badges';
import { formatUsd, inWords } from '../../components/values/format';
import { Instant } from '../../components/values/values';

const SEVERITY_COLORS = { critical: 'red', high: 'orange', medium: 'violet', low: 'gray' };
const STATE_COLORS = {
  open: 'blue',
  reopened: 'violet',
  explained: 'teal',
  resolved: 'teal',
  accepted: 'gray',
};
const RESULT_COLORS = {
  clean: 'teal',
  clean_with_doubts: 'yellow',
  incomplete: 'orange',
  findings: 'orange',
  failed: 'red',
};

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

const MIDNIGHT = 'T00:00:00.000Z';
const DAY_MS = 86_400_000;

/** Describes a period of whole days in UTC. Undefined for any other period. */
export function daysOf(from: string, to: string): string | undefined {
  const [first, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  if (!first.endsWith(MIDNIGHT) || !end.endsWith(MIDNIGHT)) return undefined;
  const [firstDay, lastDay] = [first, new Date(Date.parse(end) - DAY_MS).toISOString()].map((day) =>
    day.slice(0, 10),
  );
  return firstDay === lastDay ? `${firstDay} UTC` : `${firstDay} – ${lastDay} UTC`;
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

/** Formats an impact: `+$1.50`, `−$1.50`. Zero has no sign. */
export function signedUsd(amount: string): string {
  return isNought(amount) || amount.startsWith('-') ? formatUsd(amount) : `+${formatUsd(amount)}`;
}

export const isNought = (amount: string) => /^-?0(\.0+)?$/.test(amount);

/** Pads an amount, so that all amounts of a column have the same number of decimals. */
export function withDecimals(amount: string, decimals: number): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
}

export const decimalsOf = (amounts: string[]) =>
  Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));

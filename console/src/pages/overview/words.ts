import type { OverviewRun, OverviewUpstream } from '../../api/generated/schema';
import { formatCount } from '../../components/values/format';

/** Results of runs that compared everything. Other results leave parts uncompared. */
const WHOLE: readonly string[] = ['clean', 'clean_with_doubts', 'findings'];

/** Explains why no finding is open. Only a run that compared everything can rule out differences. */
export function noneOpen(run: Pick<OverviewRun, 'result' | 'state'> | null): string {
  if (run === null) return 'No reconciliation run yet.';
  if (run.result !== null && WHOLE.includes(run.result)) return 'Every difference is explained.';
  return run.state === 'running' || run.state === 'queued'
    ? 'No open findings. A run is in progress.'
    : 'No open findings, but the last run was incomplete.';
}

/** Returns whether an account has an open circuit, or failed after its last answer. */
export function fails({
  open_circuits: open,
  last_answered_at: answered,
  last_failure_at: failed,
}: OverviewUpstream) {
  return open.length > 0 || (failed !== null && (answered === null || failed > answered));
}

/** Returns the time of the last answer of any account. Null if there was none. */
export function lastAnswer(accounts: OverviewUpstream[]): string | null {
  const answers = accounts.flatMap(({ last_answered_at: at }) => at ?? []);
  return answers.sort().at(-1) ?? null;
}

/** Longest age of an answer that shows the current health of the upstream. */
const RECENT_MS = 15 * 60_000;

/**
 * Describes the health of the upstream by its last answer.
 * @param answered time of its last answer. Null if there was none.
 */
export function upstreamWords(answered: string | null, now = Date.now()): string {
  if (answered === null) return 'not used yet';
  return now - Date.parse(answered) <= RECENT_MS ? 'answering' : 'not used recently';
}

/**
 * Describes how fast queued calls are sent.
 * @param released number of calls whose turn came in the last minute.
 */
export function paceWords(calls: number, released: number): string {
  if (released === 0) return 'None was sent in the last minute.';
  const minutes = Math.ceil(calls / released);
  return (
    `${formatCount(released)} ${released === 1 ? 'was' : 'were'} sent in the last minute. At this pace, ` +
    `the last is sent in ${minutes === 1 ? 'a minute' : `${formatCount(minutes)} minutes`}.`
  );
}

const DAY_SECONDS = 86_400;

/**
 * Describes how long the balance of a wallet lasts.
 * @param seconds null if nothing was spent.
 */
export function runwayWords(seconds: number | null): string {
  if (seconds === null) return 'Nothing was spent in the last 24 hours.';
  if (seconds < 2 * DAY_SECONDS)
    return `Lasts ${Math.floor(seconds / 3_600)} hours at the pace of the last 24 hours.`;
  return `Lasts ${formatCount(Math.floor(seconds / DAY_SECONDS))} days at the pace of the last 24 hours.`;
}

import type { OverviewRun, OverviewUpstream } from '../../api/generated/schema';
import { formatCount } from '../../components/values/format';

/** The results of runs that compared everything. Other results say nothing about what was not compared. */
const WHOLE: readonly string[] = ['clean', 'clean_with_doubts', 'findings'];

/** Explains that no finding waits. Only a run that compared everything can say that nothing differs. */
export function noneOpen(run: Pick<OverviewRun, 'result' | 'state'> | null): string {
  if (run === null) return 'No reconciliation run yet.';
  if (run.result !== null && WHOLE.includes(run.result)) return 'Every difference is explained.';
  return run.state === 'running' || run.state === 'queued'
    ? 'No open findings. A run is in progress.'
    : 'No open findings, but the last run was incomplete.';
}

/** Returns whether an account fails most requests of an operation, or failed after its last answer. */
export function fails({
  open_circuits: open,
  last_answered_at: answered,
  last_failure_at: failed,
}: OverviewUpstream) {
  return open.length > 0 || (failed !== null && (answered === null || failed > answered));
}

/** Returns when any of the accounts last answered. Null if none has. */
export function lastAnswer(accounts: OverviewUpstream[]): string | null {
  const answers = accounts.flatMap(({ last_answered_at: at }) => at ?? []);
  return answers.sort().at(-1) ?? null;
}

/** An older answer says nothing about the current health of the upstream. */
const RECENT_MS = 15 * 60_000;

/**
 * Describes the health of the upstream by its last answer.
 * @param answered when it last answered. Null if it has not yet.
 */
export function upstreamWords(answered: string | null, now = Date.now()): string {
  if (answered === null) return 'not used yet';
  return now - Date.parse(answered) <= RECENT_MS ? 'answering' : 'not used recently';
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

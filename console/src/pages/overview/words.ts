import type { OverviewRun } from '../../api/generated/schema';

/** Results of runs that compared all that there was. Other results say nothing about what was not compared. */
const WHOLE: readonly string[] = ['clean', 'clean_with_doubts', 'findings'];

/** What it means that no finding waits: only a run that compared everything can say that nothing differs. */
export function noneOpen(run: Pick<OverviewRun, 'result' | 'state'> | null): string {
  if (run === null) return 'No reconciliation run yet.';
  if (run.result !== null && WHOLE.includes(run.result)) return 'Every difference is explained.';
  return run.state === 'running'
    ? 'No open findings. A run is in progress.'
    : 'No open findings, but the last run was incomplete.';
}

/** An answer that is older says nothing about how the upstream is now. */
const RECENT_MS = 15 * 60_000;

/** How the upstream is, as far as its last answer can tell. @param answered when it last answered; null: it did not yet. */
export function upstreamWords(answered: string | null, now = Date.now()): string {
  if (answered === null) return 'not used yet';
  return now - Date.parse(answered) <= RECENT_MS ? 'answering' : 'not used recently';
}

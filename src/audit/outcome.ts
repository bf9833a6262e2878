/**
 * What can have come of a call: the outcomes the journal records, `refused` for what was not let through, `inProgress`
 * while an answer may still come, and `unknown` also for an intent that has none and is older than the time-out.
 */
export const OUTCOMES = ['succeeded', 'rejected', 'notSent', 'unknown', 'inProgress', 'refused'] as const;

export type OutcomeWord = (typeof OUTCOMES)[number];

/** Before the upstream's time and after it, intent and outcome may each wait for a statement's ten seconds. */
const JOURNAL_GRACE_MS = 30_000;

/** Intents received before this instant that have no outcome are in doubt. */
export function inDoubtBefore(longestTimeoutMs: number): Date {
  return new Date(Date.now() - longestTimeoutMs - JOURNAL_GRACE_MS);
}

/**
 * What can have come of a call: the outcomes the journal records; `unknown` also for what was sent and has none, once
 * nobody is there any more to record one; `confirmed` and `not_executed` where that was found out since; `pending_approval`,
 * `declined` and `expired` for what waits, or waited in vain, for an approval; `in_progress` while an answer may still come;
 * `refused` for what was not let through.
 */
export const OUTCOMES = [
  'succeeded',
  'rejected',
  'not_sent',
  'unknown',
  'confirmed',
  'not_executed',
  'pending_approval',
  'declined',
  'expired',
  'in_progress',
  'refused',
] as const;

export type OutcomeWord = (typeof OUTCOMES)[number];

/** The outcomes of calls that were carried out, so that their payouts count as paid. */
export const PAID_OUTCOMES: readonly OutcomeWord[] = ['succeeded', 'confirmed'];

export const OUTCOME_HELP =
  '`unknown` is in doubt; `confirmed` (carried out) and `not_executed` (not carried out) were in doubt until that was found out; ' +
  '`pending_approval`, `declined` and `expired` were never sent.';

export const PAID_HELP = 'Their `outcome` is `succeeded`, or `confirmed`: in doubt at first, then found carried out.';

/** What the records alone do not say: how late it is, and who is still at work. */
export interface Present {
  /** By the database's clock, in whole milliseconds. */
  now: Date;
  /** Numbers of the processes that live. */
  live: number[];
  /** What was released to be sent before this instant, and has no outcome, will have none. */
  givenUpBefore: Date;
}

/** @param givenUpAfterMs after which time no outcome comes any more. */
export function present(now: Date, live: number[], givenUpAfterMs: number): Present {
  return { now, live, givenUpBefore: new Date(now.getTime() - givenUpAfterMs) };
}

/** What the records say of a call that was let through. */
export interface Recorded {
  /** When the intent was written, by the database's clock: a body may take a minute to come in before that. */
  recordedAt: Date;
  process: number | null;
  heldFor: string | null;
  expiresAt: Date | null;
  decision: { verdict: string; decidedAt: Date; process: number } | null;
  outcome: { kind: string; answeredAt: Date } | null;
  resolution: { verdict: string } | null;
}

/**
 * There is no status column: the word follows from the records. The view `call_state` of the migrations says the same, and
 * outcomeWord of filters.ts what of it depends on the time. Instants are
 * compared by < only: Date cuts off the microseconds of the database, and that changes no such comparison with a whole
 * millisecond.
 */
export function outcomeOf(recorded: Recorded, { now, live, givenUpBefore }: Present): OutcomeWord {
  const { outcome, resolution, decision, heldFor, expiresAt, process } = recorded;
  // The upstream's own word, even where it came after a person had settled the call as `not_executed`. The reservation was given
  // back by then, so a success counts against no cap.
  if (outcome && outcome.kind !== 'unknown') return outcome.kind as OutcomeWord;
  if (resolution) return resolution.verdict as OutcomeWord;
  if (outcome) return 'unknown';
  if (heldFor !== null && decision?.verdict !== 'approved') {
    if (decision) return 'declined';
    return expiresAt && expiresAt < now ? 'expired' : 'pending_approval';
  }
  const sender = decision?.process ?? process; // calls of before there were numbers have none: their age alone tells
  const isGone = sender !== null && !live.includes(sender);
  return isGone || releasedAt(recorded) < givenUpBefore ? 'unknown' : 'in_progress';
}

/** Since when it is in doubt: since its answer was given up, or, with no outcome, since it was released to be sent. */
export function inDoubtSince(recorded: Recorded, at: Present): Date | null {
  if (outcomeOf(recorded, at) !== 'unknown') return null;
  return recorded.outcome?.answeredAt ?? releasedAt(recorded);
}

function releasedAt({ decision, recordedAt }: Recorded): Date {
  return decision?.decidedAt ?? recordedAt;
}

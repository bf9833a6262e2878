/**
 * The lifecycle of a call. A call has no status column: its state follows from its records and, while it
 * waits, from the time. This file is the only definition in TypeScript. The SQL functions recorded_state()
 * and state_at() are the only one in SQL (lifecycle-sql.ts). test/payments/lifecycle.spec.ts compares the two
 * for every combination of facts.
 */

/** The meaning of a state for money, the idempotency key and the records. */
interface StateMeaning {
  /**
   * Whether the call was executed. `open`: it still may be, or may have been. A call that was not executed
   * counts on no cap and competes with no other call. The records of an open call are kept.
   */
  executed: 'yes' | 'no' | 'open';
  /** Whether the upstream received the request, or may have. Reconciliation compares these calls. */
  arrived: boolean;
  /** Whether the idempotency key is free for another request. May depend on the status of a rejection. */
  freesKey: boolean | 'if_refused_at_the_door';
}

export const STATES = {
  succeeded: { executed: 'yes', arrived: true, freesKey: false },
  rejected: { executed: 'no', arrived: true, freesKey: 'if_refused_at_the_door' },
  not_sent: { executed: 'no', arrived: false, freesKey: true },
  unknown: { executed: 'open', arrived: true, freesKey: false },
  confirmed: { executed: 'yes', arrived: true, freesKey: false },
  not_executed: { executed: 'no', arrived: true, freesKey: true },
  queued: { executed: 'open', arrived: false, freesKey: false },
  pending_approval: { executed: 'open', arrived: false, freesKey: false },
  declined: { executed: 'no', arrived: false, freesKey: false },
  expired: { executed: 'no', arrived: false, freesKey: false },
  in_progress: { executed: 'open', arrived: true, freesKey: false },
  refused: { executed: 'no', arrived: false, freesKey: true },
} as const satisfies Record<string, StateMeaning>;

/** The state of a call. Called `outcome` in records and in the API. */
export type CallState = keyof typeof STATES;

export const CALL_STATES = Object.keys(STATES) as CallState[];

export const STATE_HELP =
  '`unknown` calls are in doubt. `confirmed` (carried out) and `not_executed` (not carried out) calls were ' +
  'in doubt before. `queued` and `pending_approval` calls were not sent yet, and `declined` and `expired` ' +
  'calls never.';

function statesThat(is: (meaning: StateMeaning) => boolean): CallState[] {
  return CALL_STATES.filter((state) => is(STATES[state]));
}

/** The states of executed calls. Their payouts count as paid. */
export const EXECUTED = statesThat(({ executed }) => executed === 'yes');

/** The states of open calls: in doubt, in progress, queued or pending approval. */
export const OPEN = statesThat(({ executed }) => executed === 'open');

/** The states of calls that the upstream received, or may have. */
export const ARRIVED = statesThat(({ arrived }) => arrived);

/** The resolutions of a call in doubt. */
export const RESOLUTIONS = ['confirmed', 'not_executed'] as const satisfies CallState[];

export type Resolution = (typeof RESOLUTIONS)[number];

/** Statuses by which the upstream rejects our key or limits us before it reads the request. */
export const GATEWAY_REFUSALS: readonly number[] = [401, 403, 429];

/** Returns whether a call in this state frees its idempotency key and its content. */
export function freesKey(state: CallState, upstreamStatus: number | null): boolean {
  const { freesKey } = STATES[state];
  if (typeof freesKey === 'boolean') return freesKey;
  return upstreamStatus !== null && GATEWAY_REFUSALS.includes(upstreamStatus);
}

/** The facts that determine the state, except for the time. */
export interface Facts {
  outcome: string | null;
  /** Whether a refusal has the call's ID. An intent has one if its commit was wrongly reported as failed. */
  refused: boolean;
  /** Resolution of the whole call by its last settlement. Null without one. */
  resolution: string | null;
  /** Whether the call needs an approval. */
  held: boolean;
  /** Whether the call was accepted to be sent later, in its turn. A held call was not. */
  queued: boolean;
  decision: string | null;
}

/**
 * The first rule whose conditions all hold determines the state. A settlement is always newer than the
 * answer: a late answer becomes a settlement itself (src/journal/settlement/settled-by-upstream.ts).
 */
const RULES = toRules([
  [{ outcome: null, refused: true }, 'refused'],
  [{ resolution: 'confirmed' }, 'confirmed'],
  [{ resolution: 'not_executed' }, 'not_executed'],
  [{ outcome: 'succeeded' }, 'succeeded'],
  [{ outcome: 'rejected' }, 'rejected'],
  [{ outcome: 'not_sent' }, 'not_sent'],
  [{ outcome: 'unknown' }, 'unknown'],
  [{ held: true, decision: 'rejected' }, 'declined'],
  [{ held: true, decision: null }, 'pending_approval'],
  [{ queued: true, decision: null }, 'queued'],
  [{}, 'in_progress'],
]);

function toRules(rules: [when: Partial<Facts>, state: CallState][]) {
  return rules.map(([when, state]) => ({
    conditions: Object.entries(when) as [keyof Facts, unknown][],
    state,
  }));
}

/** Returns the state from the records alone, as in the search index. `stateAt` adds the effect of time. */
export function recordedState(given: Facts): CallState {
  const { refused, queued, decision } = given;
  // A released call was sent, whatever its app was told.
  const facts = { ...given, refused: refused && !(queued && decision === 'released') };
  const rule = RULES.find(({ conditions }) => conditions.every(([fact, value]) => facts[fact] === value));
  return rule?.state ?? 'in_progress'; // The last rule has no condition.
}

/** The facts outside of records: the time and the live processes. */
export interface Present {
  /** By the database's clock, in whole milliseconds. */
  now: Date;
  /** The numbers of the live processes. */
  live: number[];
  /** The release time before which a call without an outcome will never have one. */
  givenUpBefore: Date;
}

/** @param givenUpAfterMs time from a release during which an outcome may still arrive. */
export function present(now: Date, live: number[], givenUpAfterMs: number): Present {
  return { now, live, givenUpBefore: new Date(now.getTime() - givenUpAfterMs) };
}

/** The fields of a call that the effect of time depends on. */
export interface Timing {
  /** Expiry of its approval, in whole milliseconds. Expired from this instant on. */
  expiresAt: Date | null;
  /** The process that sends it. Null or undefined if its age alone decides whether it is in doubt. */
  process: number | null;
  /** Release time: of the record or, if it waited, of the approval or of its turn. */
  releasedAt: Date;
}

/** States that time ends, and their successors. */
const LAPSES: Partial<
  Record<CallState, { becomes: CallState; hasLapsed: (timing: Timing, present: Present) => boolean }>
> = {
  pending_approval: {
    becomes: 'expired',
    hasLapsed: ({ expiresAt }, { now }) => expiresAt !== null && expiresAt <= now,
  },
  in_progress: {
    becomes: 'unknown',
    hasLapsed: ({ process, releasedAt }, { live, givenUpBefore }) =>
      (process !== null && !live.includes(process)) || releasedAt < givenUpBefore,
  },
};

/** Returns the state at an instant of a call with this recorded state. */
export function stateAt(recorded: CallState, timing: Timing, at: Present): CallState {
  const lapse = LAPSES[recorded];
  return lapse?.hasLapsed(timing, at) ? lapse.becomes : recorded;
}

/** Returns the recorded states of calls that may now be in this state. */
export function recordedAs(state: CallState): CallState[] {
  return CALL_STATES.filter((recorded) => recorded === state || LAPSES[recorded]?.becomes === state);
}

/** Returns the possible states of a call with this recorded state, at any time. */
export function possibleStates(recorded: CallState): CallState[] {
  const lapse = LAPSES[recorded];
  return lapse ? [recorded, lapse.becomes] : [recorded];
}

/** The records of an admitted call from Prisma. */
export interface RecordedCall {
  /** Time of the intent's commit, by the database's clock. The body may have taken a minute to arrive. */
  recordedAt: Date;
  process: number | null;
  heldFor: string | null;
  /** Expiry of a held or queued call. Null for a call that was sent at once. */
  expiresAt: Date | null;
  decision: { kind: string; decidedAt: Date; process: number } | null;
  outcome: { kind: string; answeredAt: Date } | null;
  resolution: { outcome: string } | null;
}

/** Returns whether a call was accepted to be sent later, in its turn. Only calls that wait expire. */
export function isQueued({ heldFor, expiresAt }: Pick<RecordedCall, 'heldFor' | 'expiresAt'>): boolean {
  return heldFor === null && expiresAt !== null;
}

/** Returns the state of a call that has no refusal. */
export function stateOf(call: RecordedCall, at: Present): CallState {
  const { outcome, resolution, decision, heldFor, expiresAt } = call;
  const recorded = recordedState({
    outcome: outcome?.kind ?? null,
    refused: false,
    resolution: resolution?.outcome ?? null,
    held: heldFor !== null,
    queued: isQueued(call),
    decision: decision?.kind ?? null,
  });
  return stateAt(
    recorded,
    { expiresAt, process: decision?.process ?? call.process, releasedAt: releasedAt(call) },
    at,
  );
}

/**
 * Returns the start of a call's doubt: the end of waiting for its answer or, without an outcome, its release.
 * Null if it is not in doubt.
 */
export function inDoubtSince(call: RecordedCall, at: Present): Date | null {
  return stateOf(call, at) === 'unknown' ? (call.outcome?.answeredAt ?? releasedAt(call)) : null;
}

/** Returns the status of a held call's approval. Null for a call that needed none. */
export function approvalStatusOf(call: RecordedCall, at: Present): string | null {
  if (call.heldFor === null) return null;
  return call.decision?.kind ?? (stateOf(call, at) === 'expired' ? 'expired' : 'pending');
}

function releasedAt({ decision, recordedAt }: RecordedCall): Date {
  return decision?.decidedAt ?? recordedAt;
}

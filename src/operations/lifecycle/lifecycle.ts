/**
 * The lifecycle of a call. A call has no status column: its state follows from its records and, while it waits, from
 * the time. This file is the only definition in TypeScript. The SQL functions recorded_state() and state_at()
 * are the only one in SQL (lifecycle-sql.ts). test/payments/lifecycle.spec.ts compares the two for every combination
 * of facts.
 */

/** What a state means for money, for the idempotency key and for the records. */
interface Meaning {
  /**
   * Whether the call was carried out. `open` means that it still may be, or may have been. A call that was not carried
   * out counts against no cap and competes with no other call. The records of an open call are kept.
   */
  executed: 'yes' | 'no' | 'open';
  /** Whether the upstream has received the request, or may have. Reconciliation compares these calls. */
  arrived: boolean;
  /** Whether the idempotency key is free for another request. The status of a rejection may decide. */
  freesKey: boolean | 'if_refused_at_the_door';
}

export const STATES = {
  succeeded: { executed: 'yes', arrived: true, freesKey: false },
  rejected: { executed: 'no', arrived: true, freesKey: 'if_refused_at_the_door' },
  not_sent: { executed: 'no', arrived: false, freesKey: true },
  unknown: { executed: 'open', arrived: true, freesKey: false },
  confirmed: { executed: 'yes', arrived: true, freesKey: false },
  not_executed: { executed: 'no', arrived: true, freesKey: true },
  pending_approval: { executed: 'open', arrived: false, freesKey: false },
  declined: { executed: 'no', arrived: false, freesKey: false },
  expired: { executed: 'no', arrived: false, freesKey: false },
  in_progress: { executed: 'open', arrived: true, freesKey: false },
  refused: { executed: 'no', arrived: false, freesKey: true },
} as const satisfies Record<string, Meaning>;

/** The state of a call. Records and the API call it the `outcome`. */
export type CallState = keyof typeof STATES;

export const CALL_STATES = Object.keys(STATES) as CallState[];

export const STATE_HELP =
  '`unknown` calls are in doubt. `confirmed` (carried out) and `not_executed` (not carried out) calls were in doubt ' +
  'before. `pending_approval`, `declined`, and `expired` calls were never sent.';

export function statesThat(is: (meaning: Meaning) => boolean): CallState[] {
  return CALL_STATES.filter((state) => is(STATES[state]));
}

/** The states of calls that were carried out, so that their payouts count as paid. */
export const EXECUTED = statesThat(({ executed }) => executed === 'yes');

/** The states of calls that are not over: in doubt, in progress, or pending approval. */
export const OPEN = statesThat(({ executed }) => executed === 'open');

/** The states of calls that the upstream has received, or may have. */
export const ARRIVED = statesThat(({ arrived }) => arrived);

/** How a call in doubt may be settled. */
export const RESOLUTIONS = ['confirmed', 'not_executed'] as const satisfies CallState[];

export type Resolution = (typeof RESOLUTIONS)[number];

/** With these statuses, the upstream rejects our key, or limits us, before it reads the request. */
export const REFUSED_AT_THE_DOOR: readonly number[] = [401, 403, 429];

/** Returns whether the idempotency key of a call in this state is free, and whether its content may be sent again. */
export function freesKey(state: CallState, upstreamStatus: number | null): boolean {
  const { freesKey } = STATES[state];
  if (typeof freesKey === 'boolean') return freesKey;
  return upstreamStatus !== null && REFUSED_AT_THE_DOOR.includes(upstreamStatus);
}

/** The facts that determine the state, without the time. */
export interface Facts {
  outcome: string | null;
  /** Whether a refusal has the call's ID. An intent can have one if its commit was reported as failed, but was not. */
  refused: boolean;
  /** How its last settlement settles the call as a whole. */
  resolution: string | null;
  /** Whether the call needs an approval. */
  held: boolean;
  decision: string | null;
}

/**
 * The first rule whose conditions all hold determines the state. A settlement is always younger than the answer: one
 * that comes later becomes a settlement itself (src/journal/settlement/settled-by-upstream.ts).
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
  [{}, 'in_progress'],
]);

function toRules(rules: [when: Partial<Facts>, state: CallState][]) {
  return rules.map(([when, state]) => ({ conditions: Object.entries(when) as [keyof Facts, unknown][], state }));
}

/** Returns the state from the records alone. The search index stores it. `stateAt` adds the effect of time. */
export function recordedState(facts: Facts): CallState {
  const rule = RULES.find(({ conditions }) => conditions.every(([fact, value]) => facts[fact] === value));
  return rule?.state ?? 'in_progress'; // the last rule has no condition
}

/** The facts that records do not contain: the time, and the live processes. */
export interface Present {
  /** By the database's clock, in whole milliseconds. */
  now: Date;
  /** The numbers of the live processes. */
  live: number[];
  /** A call that was released before this instant and has no outcome will have none. */
  givenUpBefore: Date;
}

/** @param givenUpAfterMs how long after its release a call may still get an outcome. */
export function present(now: Date, live: number[], givenUpAfterMs: number): Present {
  return { now, live, givenUpBefore: new Date(now.getTime() - givenUpAfterMs) };
}

/** The fields of a call that matter for the effect of time. */
export interface Timing {
  /** When its approval expires, in whole milliseconds. From this instant on, it is expired. */
  expiresAt: Date | null;
  /** The process that sends it. Without a number, its age alone tells whether it is in doubt. */
  process: number | null;
  /** When it was released to be sent: when it was recorded or, if it was held, approved. */
  releasedAt: Date;
}

/** The states that end by themselves, and the states that follow. */
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

/** Returns the recorded states of calls that may be in this state by now. */
export function recordedAs(state: CallState): CallState[] {
  return CALL_STATES.filter((recorded) => recorded === state || LAPSES[recorded]?.becomes === state);
}

/** Returns the states that a call with this recorded state may be in, whatever the time. */
export function possibleStates(recorded: CallState): CallState[] {
  const lapse = LAPSES[recorded];
  return lapse ? [recorded, lapse.becomes] : [recorded];
}

/** The records of an admitted call, as Prisma reads them. */
export interface RecordedCall {
  /** When the intent was written, by the database's clock. Before that, a body may take a minute to arrive. */
  recordedAt: Date;
  process: number | null;
  heldFor: string | null;
  expiresAt: Date | null;
  decision: { kind: string; decidedAt: Date; process: number } | null;
  outcome: { kind: string; answeredAt: Date } | null;
  resolution: { outcome: string } | null;
}

/** Returns the state of a call that has no refusal. */
export function stateOf(call: RecordedCall, at: Present): CallState {
  const { outcome, resolution, decision, heldFor, expiresAt } = call;
  const recorded = recordedState({
    outcome: outcome?.kind ?? null,
    refused: false,
    resolution: resolution?.outcome ?? null,
    held: heldFor !== null,
    decision: decision?.kind ?? null,
  });
  return stateAt(recorded, { expiresAt, process: decision?.process ?? call.process, releasedAt: releasedAt(call) }, at);
}

/**
 * Returns when a call became in doubt: when waiting for its answer ended or, without an outcome, when it was released.
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

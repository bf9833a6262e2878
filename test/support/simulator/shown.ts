import type { Payment } from './ledger';

/** A payout as the proxy shows it in the end. */
export interface ShownPayout {
  state: string;
  /** References of the transactions that the doubt about its call names. */
  named: string[];
  reason: string | null;
  /** Whether the proxy got no answer within its time limit. */
  isTimedOut: boolean;
}

/** The members of an auditor's record of a call that show its payouts. */
export interface AuditedCall {
  outcome: string;
  upstream: { failure: string | null } | null;
  /** Newest first. */
  settlements: { reason: string | null }[];
  doubt: { reason: string; transactions: { upstream_ref: string | null }[] } | null;
  items: { state: string | null; upstream: { upstream_ref: string | null } | null }[];
}

/** Returns the payouts of a call, in the order of its items. */
export function shownPayouts({ outcome, doubt, items, settlements, ...call }: AuditedCall): ShownPayout[] {
  const named = doubt?.transactions.flatMap(({ upstream_ref: ref }) => ref ?? []) ?? [];
  const isTimedOut = call.upstream?.failure === 'timeout';
  return items.map(({ state, upstream }) => ({
    isTimedOut,
    named: [...named, ...(upstream?.upstream_ref ? [upstream.upstream_ref] : [])],
    reason: doubt?.reason ?? settlements[0]?.reason ?? null,
    state: state ?? outcome,
  }));
}

/**
 * Compares equal payouts with the payments of the ledger, whichever is whose. A payment that the upstream
 * made in addition belongs to no payout, and replaces none.
 * @returns the payouts with another state, and the states that no payout has.
 */
export function compareStates<Shown extends ShownPayout>(
  shown: readonly Shown[],
  payments: readonly Payment[],
): { wrong: Shown[]; missing: string[] } {
  const own = payments.filter(({ isSurplus }) => !isSurplus).map(({ state }) => state as string);
  const missing = Math.max(0, shown.length - own.length);
  const expected = [...own, ...Array.from({ length: missing }, () => 'not_executed')];
  const wrong = shown.filter(({ state }) => {
    const index = expected.indexOf(state);
    if (index >= 0) expected.splice(index, 1);
    return index < 0;
  });
  return { wrong, missing: expected };
}

/** Returns whether a payout is in doubt with a reason that names the rows: its own, or any if it has none. */
export function isNamedDoubt({ state, named }: ShownPayout, payments: readonly Payment[]): boolean {
  const refs = payments.map(({ chiRef }) => chiRef);
  return state === 'in_doubt' && named.some((ref) => refs.length === 0 || refs.includes(ref));
}

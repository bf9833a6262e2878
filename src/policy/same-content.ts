import { FirstCallState } from '../platform/errors/problem';

/**
 * How long a call with a list of two or more items makes a repeated request suspected, whatever its key. A file that is
 * uploaded twice gets a new key each time. The same applies to a call that was in doubt before, and to one whose client
 * hung up before its answer: its client was told an error, or nothing, and may still try again.
 */
export const LASTING_SECONDS = 86_400;

/** A call with the same content that has paid or may still pay. */
export type SameContentState = FirstCallState;

/** A call of the same client and operation with the same body. */
export interface SameContent {
  callId: string;
  state: SameContentState;
  /** How many seconds ago its outcome became known, by the database's clock. Null if it is still open. */
  paidSecondsAgo: number | null;
  /** Whether its client hung up before its answer was handed over. */
  undelivered: boolean;
}

/** Returns whether the client of a call that was paid may believe that it was not: it was told an error, or nothing. */
export function isBelievedUnpaid({ state, undelivered }: Pick<SameContent, 'state' | 'undelivered'>): boolean {
  return state === 'confirmed' || undelivered;
}

/** The fields of a request that decide whether a call with the same content stands in its way. */
interface Repeating {
  idempotencyKey: string | null;
  items: readonly unknown[];
}

/**
 * Finds the call that a request must name in order to repeat it intentionally. It is always the newest one. Of two
 * requests that name the same call, the second must therefore name the first.
 * @param same newest first.
 * @param windowSeconds how long after its answer a call makes a request without a key suspected.
 * @returns undefined if no call stands in its way.
 */
export function callInTheWay(request: Repeating, same: SameContent[], windowSeconds: number): SameContent | undefined {
  return same.some((one) => isInTheWay(request, one, windowSeconds)) ? same[0] : undefined;
}

function isInTheWay(
  { idempotencyKey, items }: Repeating,
  { paidSecondsAgo, ...same }: SameContent,
  windowSeconds: number,
): boolean {
  if (paidSecondsAgo === null) return true; // A second payment could be one too many, whatever its key.
  if ((isBelievedUnpaid(same) || isList(items.length)) && paidSecondsAgo <= LASTING_SECONDS) return true;
  return idempotencyKey === null && paidSecondsAgo <= windowSeconds;
}

/** Whether a call makes repeated requests suspected for `LASTING_SECONDS`, because of its number of items. */
export function isList(itemCount: number): boolean {
  return itemCount >= 2;
}

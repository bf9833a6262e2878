import { FirstCallState } from '../platform/errors/problem';

/**
 * For how long after its answer a list of two items or more is noticed when it comes again, whatever its key. A file that is
 * uploaded twice gets a new key each time.
 */
export const LASTING_SECONDS = 86_400;

/** What is known of a call whose content comes again, where something may have been paid, or may yet be. */
export type SameContentState = FirstCallState;

/** A call of the same client and operation with the same body. */
export interface SameContent {
  callId: string;
  state: SameContentState;
  /** How long ago that was known, in seconds by the database's clock; null: it is still open. */
  paidSecondsAgo: number | null;
}

/** What of a request decides whether a call with the same content is in its way. */
export interface Repeating {
  idempotencyKey: string | null;
  items: readonly unknown[];
}

/**
 * Finds the call that a request must name in order to be sent although it repeats it. That is always the newest one: of two
 * requests that name the same call, the second must name the first.
 * @param same newest first.
 * @param windowSeconds for how long after its answer a request without a key is suspected.
 * @returns undefined where nothing is in the way.
 */
export function callInTheWay(request: Repeating, same: SameContent[], windowSeconds: number): SameContent | undefined {
  return same.some((one) => isInTheWay(request, one, windowSeconds)) ? same[0] : undefined;
}

function isInTheWay(
  { idempotencyKey, items }: Repeating,
  { paidSecondsAgo }: SameContent,
  windowSeconds: number,
): boolean {
  if (paidSecondsAgo === null) return true; // a second payment could be one too many, whatever key it has
  if (isList(items.length) && paidSecondsAgo <= LASTING_SECONDS) return true;
  return idempotencyKey === null && paidSecondsAgo <= windowSeconds;
}

/** Whether a call is noticed for `LASTING_SECONDS`. */
export function isList(itemCount: number): boolean {
  return itemCount >= 2;
}

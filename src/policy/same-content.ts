import { FirstCallState } from '../platform/errors/problem';

/**
 * Seconds during which a call with a list of two or more items suspects a repetition, whatever its key: a
 * file that is uploaded twice gets a new key each time. Also for a call that was in doubt before, and for one
 * whose client hung up before its answer: the client got an error or nothing, and may still retry.
 */
export const LASTING_SECONDS = 86_400;

/** A call with the same content that was paid or may still be paid. */
export type SameContentState = FirstCallState;

/** A call of the same client and operation with the same body. */
export interface SameContent {
  callId: string;
  state: SameContentState;
  /** Seconds since its outcome was known, by the database's clock. Null while open. */
  paidSecondsAgo: number | null;
  /** Whether its client hung up before its answer was handed over. */
  undelivered: boolean;
}

/** Returns whether the client of a paid call may believe it unpaid: it got an error, or nothing. */
export function isBelievedUnpaid({
  state,
  undelivered,
}: Pick<SameContent, 'state' | 'undelivered'>): boolean {
  return state === 'confirmed' || undelivered;
}

/** The fields of a request that determine whether a call with the same content blocks it. */
interface RepetitionFields {
  idempotencyKey: string | null;
  items: readonly unknown[];
}

/**
 * Finds the call that a request must name to repeat it intentionally: always the newest one. Of two requests
 * that name the same call, the second must therefore name the first.
 * See docs/internals/decisions/money/0022-a-duplicate-names-its-call.md.
 * @param same newest first.
 * @param windowSeconds how long after its answer a call suspects a request without a key.
 * @returns undefined if no call blocks the request.
 */
export function conflictingCall(
  request: RepetitionFields,
  same: SameContent[],
  windowSeconds: number,
): SameContent | undefined {
  return same.some((one) => isInTheWay(request, one, windowSeconds)) ? same[0] : undefined;
}

function isInTheWay(
  { idempotencyKey, items }: RepetitionFields,
  { paidSecondsAgo, ...same }: SameContent,
  windowSeconds: number,
): boolean {
  if (paidSecondsAgo === null) return true; // A second payment could be one too many, whatever its key.
  if ((isBelievedUnpaid(same) || isList(items.length)) && paidSecondsAgo <= LASTING_SECONDS) return true;
  return idempotencyKey === null && paidSecondsAgo <= windowSeconds;
}

/** Whether a call suspects repetitions for `LASTING_SECONDS`, because of its number of items. */
export function isList(itemCount: number): boolean {
  return itemCount >= 2;
}

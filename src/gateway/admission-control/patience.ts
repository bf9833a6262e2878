import { readPrefer } from '../../http/validation/prefer';
import { OperationName, rowOf } from '../../operations/catalogue/catalogue';
import { Effect } from '../../operations/catalogue/row';

/**
 * Longest wait for a permit, in seconds, unless the request has a preference. With the longest answer of the
 * upstream (UPSTREAM_TIMEOUT_MS, 30 s), a payment stays below the usual timeout of balancers: a minute.
 */
export const PATIENCE_SECONDS: Record<Effect, number> = { pay: 20, write: 20, read: 3 };

/** Upper bound of `Prefer: wait`, in seconds. A longer wait outlasts most connections. */
export const LONGEST_WAIT_SECONDS = 120;

/** Returns how long a request waits for its permit, in ms. @param prefer the header `Prefer`. */
export function patienceMsOf(operation: OperationName, prefer: string | undefined): number {
  const { waitSeconds = PATIENCE_SECONDS[rowOf(operation).effect] } = readPrefer(prefer);
  return Math.min(waitSeconds, LONGEST_WAIT_SECONDS) * 1_000;
}

import { Transaction } from '../../gateway/upstream/transactions';

/** Without these fields, little can be compared. */
export function isFaulty({ amountUsd, issuedAt }: Transaction): boolean {
  return amountUsd === null || issuedAt === null;
}

/** Returns the earlier of two times. Null is none. */
export function earlier(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other < one) ? other : one;
}

/** Returns whether a time is in a window. A missing one of either is. */
export function isWithin(window: { from: Date; to: Date } | null, at: Date | null): boolean {
  return window === null || at === null || (at >= window.from && at < window.to);
}

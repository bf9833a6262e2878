/**
 * The lock for writing steps, held until the end of the transaction. The second of two decisions then sees the first.
 */
export const FINDING_STEP_LOCK = 7_070_020;

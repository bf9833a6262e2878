/** Whoever adds steps holds it to the end of the transaction: of two decisions about one finding, the second sees the first. */
export const FINDING_STEP_LOCK = 7_070_020;

/**
 * When a call was let go to be sent, by the clocks of this process. It is read before the statement that commits this is
 * issued. The database's own time of it (`recorded_at`, `decided_at`) is therefore never earlier, however long the process
 * is frozen before it hears of the commit.
 */
export interface Release {
  /** Monotonic, milliseconds. It may stand still while the machine sleeps. */
  monotonicMs: number;
  /** By the wall clock, milliseconds. It may be set back. */
  wallMs: number;
}

export function releaseNow(): Release {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** A release so many milliseconds before another one. */
export function earlier({ monotonicMs, wallMs }: Release, byMs: number): Release {
  return { monotonicMs: monotonicMs - byMs, wallMs: wallMs - byMs };
}

/** How long ago that was, in milliseconds: whichever clock says more. */
export function ageOf({ monotonicMs, wallMs }: Release): number {
  return Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}

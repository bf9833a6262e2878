/**
 * When a call was released to be sent, by the clocks of this process. It is read before the committing statement is
 * issued. The database's own time (`recorded_at`, `decided_at`) is therefore never earlier, however long the process is
 * frozen before it learns of the commit.
 */
export interface Release {
  /** Milliseconds of a monotonic clock. It may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Milliseconds of the wall clock. It may be set back. */
  wallMs: number;
}

export function releaseNow(): Release {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** Returns a release a number of milliseconds before another one. */
export function earlier({ monotonicMs, wallMs }: Release, byMs: number): Release {
  return { monotonicMs: monotonicMs - byMs, wallMs: wallMs - byMs };
}

/** Returns the age of a release in milliseconds, by the clock that says more. */
export function ageOf({ monotonicMs, wallMs }: Release): number {
  return Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}

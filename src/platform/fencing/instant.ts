import { uptime } from 'node:os';

/** Two clocks that differ by less than this, in milliseconds, have run together. One of them only shows whole milliseconds. */
const AGREEMENT_MS = 5;

/** A moment, by the clocks of this process. Each of them can fail in one way, so all are read. */
export interface Instant {
  /** Milliseconds of a monotonic clock. It may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Milliseconds since the machine booted, in steps of 10. It runs on while the machine sleeps. */
  bootMs: number;
  /** Milliseconds of the wall clock. It may be set back. */
  wallMs: number;
}

export function now(): Instant {
  return { monotonicMs: performance.now(), bootMs: uptime() * 1_000, wallMs: Date.now() };
}

/** Returns an instant a number of milliseconds before another one. */
export function earlier({ monotonicMs, bootMs, wallMs }: Instant, byMs: number): Instant {
  return { monotonicMs: monotonicMs - byMs, bootMs: bootMs - byMs, wallMs: wallMs - byMs };
}

/**
 * Returns the age of an instant in milliseconds, by the clock that says most. While the machine sleeps, the kernel moves
 * the wall clock by as much as the boot time. So the boot time can say more than the others only if they disagree, and
 * is read only then: it comes from a file, which takes a hundred times as long.
 */
export function ageOf({ monotonicMs, bootMs, wallMs }: Instant): number {
  const [byMonotonic, byWall] = [performance.now() - monotonicMs, Date.now() - wallMs];
  const age = Math.max(byMonotonic, byWall);
  if (Math.abs(byWall - byMonotonic) < AGREEMENT_MS) return age;
  return Math.max(age, uptime() * 1_000 - bootMs);
}

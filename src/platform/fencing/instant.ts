import { uptime } from 'node:os';

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

/** Returns the age of an instant in milliseconds, by the clock that says most. */
export function ageOf({ monotonicMs, bootMs, wallMs }: Instant): number {
  return Math.max(performance.now() - monotonicMs, uptime() * 1_000 - bootMs, Date.now() - wallMs);
}

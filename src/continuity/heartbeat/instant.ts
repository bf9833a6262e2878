import { uptime } from 'node:os';

/** A wall clock that moves this far against the monotonic clock, in milliseconds, was set, or the machine slept. */
const JUMP_MS = 5;

/** A moment, by the clocks of this process. Each of them can fail in one way, so all are read. */
export interface Instant {
  /** Milliseconds of a monotonic clock. It may stand still while the machine sleeps. */
  monotonicMs: number;
  /** Milliseconds since the machine booted, in steps of 10. It runs on while the machine sleeps. */
  bootMs: number;
  /** Milliseconds of the wall clock. It may be set back. */
  wallMs: number;
}

/** The other clocks minus the monotonic one, when the boot time was last read. */
let offsets = { bootMs: NaN, wallMs: NaN };

/**
 * Reads the clocks. The boot time comes from a file, which takes a hundred times as long. It can only have moved against
 * the monotonic clock if the wall clock has too, because the kernel moves both after a sleep. So it is only read then.
 */
export function now(): Instant {
  const [monotonicMs, wallMs] = [performance.now(), Date.now()];
  const hasRunOn = Math.abs(wallMs - monotonicMs - offsets.wallMs) < JUMP_MS;
  if (!hasRunOn) offsets = { bootMs: uptime() * 1_000 - monotonicMs, wallMs: wallMs - monotonicMs };
  return { monotonicMs, bootMs: monotonicMs + offsets.bootMs, wallMs };
}

/** Returns an instant a number of milliseconds before another one. */
export function earlier({ monotonicMs, bootMs, wallMs }: Instant, byMs: number): Instant {
  return { monotonicMs: monotonicMs - byMs, bootMs: bootMs - byMs, wallMs: wallMs - byMs };
}

/** Returns the age of an instant in milliseconds, by the clock that says most. */
export function ageOf({ monotonicMs, bootMs, wallMs }: Instant): number {
  const read = now();
  return Math.max(read.monotonicMs - monotonicMs, read.bootMs - bootMs, read.wallMs - wallMs);
}

import { uptime } from 'node:os';

/** Drift of the wall clock against the monotonic clock, in ms, that shows a set clock or a suspension. */
const JUMP_MS = 5;

/** A moment by the clocks of this process. Each clock can fail in one way, so all are read. */
export interface Instant {
  /** Monotonic clock in ms. May stop while the machine sleeps. */
  monotonicMs: number;
  /** Time since boot in ms, in steps of 10. Continues while the machine sleeps. */
  bootMs: number;
  /** Wall clock in ms. It may be set back. */
  wallMs: number;
}

/** The other clocks minus the monotonic one, at the last reading of the boot time. */
let offsets = { bootMs: NaN, wallMs: NaN };

/**
 * Reads the clocks. The boot time comes from a file, which is a hundred times slower. It drifts from the
 * monotonic clock only if the wall clock does too, because the kernel moves both after a sleep.
 */
export function now(): Instant {
  const [monotonicMs, wallMs] = [performance.now(), Date.now()];
  const hasRunOn = Math.abs(wallMs - monotonicMs - offsets.wallMs) < JUMP_MS;
  if (!hasRunOn) offsets = { bootMs: uptime() * 1_000 - monotonicMs, wallMs: wallMs - monotonicMs };
  return { monotonicMs, bootMs: monotonicMs + offsets.bootMs, wallMs };
}

/** Returns the instant a number of milliseconds before another. */
export function earlier({ monotonicMs, bootMs, wallMs }: Instant, byMs: number): Instant {
  return { monotonicMs: monotonicMs - byMs, bootMs: bootMs - byMs, wallMs: wallMs - byMs };
}

/** Returns the age of an instant in ms, by the clock that shows the most. */
export function ageOf({ monotonicMs, bootMs, wallMs }: Instant): number {
  const read = now();
  return Math.max(read.monotonicMs - monotonicMs, read.bootMs - bootMs, read.wallMs - wallMs);
}

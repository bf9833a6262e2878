/** Minimum number of permits that the mean remembers. Fewer vary too much. */
const LEAST_REMEMBERED = 8;

/**
 * Longest usual delay of our own, in ms: a busy processor or a slow commit. A burst of 1,000 connections
 * takes a second. A delay up to this is no sign of a slow upstream.
 */
const OWN_DELAY_MS = 2_000;

/** Mean time for which a permit is held, in ms. The last permits count most. It outlives a lull. */
export class ServiceTime {
  private permits = 0;
  private meanMs = 0;
  private readonly remembered: number;

  /** @param atOnce number of permits that may be held at once. */
  constructor(atOnce: number) {
    this.remembered = Math.max(LEAST_REMEMBERED, atOnce);
  }

  add(heldMs: number): void {
    this.permits = Math.min(this.permits + 1, this.remembered);
    this.meanMs += (heldMs - this.meanMs) / this.permits;
  }

  /**
   * Returns the expected time of a permit.
   * @param newestMs age of the newest permit in use. No permit was returned and taken since, so each takes at
   *   least as long: a bound before anything is measured, and when the upstream becomes slower.
   */
  expectedMs(newestMs: number): number {
    return Math.max(this.meanMs, newestMs - OWN_DELAY_MS);
  }
}

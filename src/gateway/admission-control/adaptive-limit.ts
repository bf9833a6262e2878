/** Admissions slower than this, in ms, wait for each other. Usual ones take a few milliseconds. */
const SLOW_MS = 400;

/** Lower bound of the limit for a slow database. Admissions share one commit, so fewer would be slower. */
const MIN_SLOW_LIMIT = 8;

/** Time without a failure or slowness after which a database is healthy again, in ms. */
const HEALTHY_AFTER_MS = 10_000;

/**
 * Limits the concurrent admissions at the database. The limit falls while the database is slow, and halves
 * while it fails. It rises by one per round of fast admissions, so a recovering database is not flooded. This
 * is TCP's congestion control (RFC 5681): additive increase, multiplicative decrease.
 */
export class AdaptiveLimit {
  private limit: number;
  private used = 0;
  /** Time of the last fall. Earlier admissions do not measure the new limit. */
  private fellAt = -Infinity;

  constructor(
    private readonly maximum: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.limit = maximum;
  }

  get current(): number {
    if (this.limit < this.maximum && this.nowMs() - this.fellAt > HEALTHY_AFTER_MS) this.limit = this.maximum;
    return Math.floor(this.limit);
  }

  get hasRoom(): boolean {
    return this.used < this.current;
  }

  /** @returns the start, for `end`. */
  begin(): number {
    this.used += 1;
    return this.nowMs();
  }

  /** @param hasFailed whether the database failed or timed out. Undefined if it was not tested. */
  end(beganAt: number, hasFailed: boolean | undefined): void {
    const wasFull = !this.hasRoom;
    this.used -= 1;
    if (hasFailed === undefined) return;
    const isSlow = this.nowMs() - beganAt > SLOW_MS;
    if (hasFailed) this.fall(beganAt, this.limit / 2, 1);
    else if (isSlow) this.fall(beganAt, this.limit * 0.9, Math.min(MIN_SLOW_LIMIT, this.limit));
    else if (wasFull) this.limit = Math.min(this.maximum, this.limit + 1 / this.limit);
  }

  private fall(beganAt: number, to: number, least: number): void {
    if (beganAt <= this.fellAt) return;
    this.limit = Math.max(least, to);
    this.fellAt = this.nowMs();
  }
}

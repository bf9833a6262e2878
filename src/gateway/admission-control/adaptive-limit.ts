/** Admissions that take longer than this, in milliseconds, wait for each other. They usually take some milliseconds. */
const SLOW_MS = 400;

/** Slowness alone never leaves fewer at the same time. They share one commit, so fewer would only be slower. */
const FEWEST_SLOW = 8;

/** A database that has neither failed nor been slow for this long is healthy again. Milliseconds. */
const HEALTHY_AFTER_MS = 10_000;

/**
 * Limits how many admissions wait for the database at the same time. The limit falls while the database is slow, and by
 * half while it fails. It rises by one for each round of fast admissions, so a database that has just come back is not
 * flooded. This is the control of congestion that TCP uses: additive increase, multiplicative decrease.
 */
export class AdaptiveLimit {
  private limit: number;
  private used = 0;
  /** When the limit last fell. Admissions that began before tell nothing about the new one. */
  private fellAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.limit = most;
  }

  get current(): number {
    if (this.limit < this.most && this.nowMs() - this.fellAt > HEALTHY_AFTER_MS) this.limit = this.most;
    return Math.floor(this.limit);
  }

  get hasRoom(): boolean {
    return this.used < this.current;
  }

  /** @returns when it began. Give it to `end`. */
  begin(): number {
    this.used += 1;
    return this.nowMs();
  }

  /** @param hasFailed whether the database did not respond in time, or failed. Undefined if nothing was learned. */
  end(beganAt: number, hasFailed: boolean | undefined): void {
    const wasFull = !this.hasRoom;
    this.used -= 1;
    if (hasFailed === undefined) return;
    const isSlow = this.nowMs() - beganAt > SLOW_MS;
    if (hasFailed) this.fall(beganAt, this.limit / 2, 1);
    else if (isSlow) this.fall(beganAt, this.limit * 0.9, Math.min(FEWEST_SLOW, this.limit));
    else if (wasFull) this.limit = Math.min(this.most, this.limit + 1 / this.limit);
  }

  private fall(beganAt: number, to: number, least: number): void {
    if (beganAt <= this.fellAt) return;
    this.limit = Math.max(least, to);
    this.fellAt = this.nowMs();
  }
}

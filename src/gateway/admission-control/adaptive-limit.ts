/** Admissions slower than this, in ms, wait for each other. Usual ones take a few milliseconds. */
const SLOW_MS = 400;

/** Lower bound of the limit for a slow database. Admissions share one commit, so fewer would be slower. */
const MIN_SLOW_LIMIT = 8;

/** Time without a failure or slowness after which a database is healthy again, in ms. */
const HEALTHY_AFTER_MS = 10_000;

/** One admission. */
export interface AdmissionStep {
  beganAt: number;
  /** Whether it waits for the database. */
  isAsking: boolean;
}

/**
 * Limits the concurrent admissions at the database. The limit falls while the database is slow, and halves
 * while it fails. It rises by one per round of fast admissions, so a recovering database is not flooded. This
 * is TCP's congestion control (RFC 5681): additive increase, multiplicative decrease.
 */
export class AdaptiveLimit {
  private limit: number;
  private used = 0;
  private asking = 0;
  /** Time since which the database has been asked without a success. Undefined while it is not asked. */
  private unansweredSince: number | undefined;
  /** Time of the last fall. Earlier admissions do not measure the new limit. */
  private fellAt = -Infinity;

  /** @param stalledMs time without a success after which an asked database does not commit. */
  constructor(
    private readonly maximum: number,
    private readonly stalledMs: number,
    private readonly nowMs: () => number,
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

  /** Time for which the database has been asked without a success, in ms. */
  get unansweredMs(): number {
    return this.unansweredSince === undefined ? 0 : this.nowMs() - this.unansweredSince;
  }

  /** Whether the database does not commit. */
  get isStalled(): boolean {
    return this.unansweredMs > this.stalledMs;
  }

  /** @returns the admission, for `ask` and `end`. */
  begin(): AdmissionStep {
    this.used += 1;
    return { beganAt: this.nowMs(), isAsking: false };
  }

  /** Begins the wait for the database. Earlier steps do not measure it. */
  ask(step: AdmissionStep): void {
    step.beganAt = this.nowMs();
    if (step.isAsking) return;
    step.isAsking = true;
    this.asking += 1;
    this.unansweredSince ??= step.beganAt;
  }

  /** @param hasFailed whether the database failed or timed out. Undefined if it was not tested. */
  end({ beganAt, isAsking }: AdmissionStep, hasFailed: boolean | undefined): void {
    const wasFull = !this.hasRoom;
    this.used -= 1;
    if (isAsking) this.asking -= 1;
    if (this.asking === 0) this.unansweredSince = undefined;
    else if (hasFailed === false) this.unansweredSince = this.nowMs();
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

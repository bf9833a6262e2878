/** Of the time, at most one part in so many goes into evaluating the same thing over and over. */
const REST = 20;

/** A value, and when it was found. */
export interface CachedValue<Value> {
  value: Value;
  at: Date;
}

/**
 * What many look at, evaluated once for all of them. A value is fresh for `leastMs`, or for twenty times as long as it took;
 * for as long again it is still shown, while a fresh one is on its way.
 */
export class Cached<Value> {
  private latest: (CachedValue<Value> & { freshUntil: number; shownUntil: number }) | undefined;
  private evaluating: Promise<CachedValue<Value>> | undefined;

  /** @param leastMs is asked each time. */
  constructor(
    private readonly evaluate: () => Promise<Value>,
    private readonly leastMs: () => number,
  ) {}

  /** @throws what `evaluate` throws; the next reader tries again. */
  async read(): Promise<CachedValue<Value>> {
    const { latest } = this;
    const now = performance.now();
    if (latest && now < latest.freshUntil) return latest;
    const next = (this.evaluating ??= this.renew().finally(() => (this.evaluating = undefined)));
    if (!latest || now >= latest.shownUntil) return next;
    next.catch(() => undefined); // whoever comes too late for this one hears of it
    return latest;
  }

  private async renew(): Promise<CachedValue<Value>> {
    const at = new Date();
    const begun = performance.now();
    const value = await this.evaluate();
    const ended = performance.now();
    const freshMs = Math.max(this.leastMs(), REST * (ended - begun));
    this.latest = { value, at, freshUntil: ended + freshMs, shownUntil: ended + 2 * freshMs };
    return this.latest;
  }
}

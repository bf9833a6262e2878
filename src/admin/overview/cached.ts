import { clock } from '../../platform/database/clock';

/** A reevaluation may take at most one part in this many of the time. */
const REST = 20;

/** A value, and the time of its evaluation. */
export interface CachedValue<Value> {
  value: Value;
  at: Date;
}

/**
 * Evaluates a value once for all of its readers. A value is fresh for `leastMs`, or for twenty times its evaluation
 * time if that is longer. For the same time again, it is still shown while a fresh one is evaluated.
 */
export class Cached<Value> {
  private latest: (CachedValue<Value> & { freshUntil: number; shownUntil: number }) | undefined;
  private evaluating: Promise<CachedValue<Value>> | undefined;

  /** @param leastMs is read each time. */
  constructor(
    private readonly evaluate: () => Promise<Value>,
    private readonly leastMs: () => number,
  ) {}

  /** @throws the error of `evaluate`. The next reader tries again. */
  async read(): Promise<CachedValue<Value>> {
    const { latest } = this;
    const now = performance.now();
    if (latest && now < latest.freshUntil) return latest;
    const next = (this.evaluating ??= this.renew().finally(() => (this.evaluating = undefined)));
    if (!latest || now >= latest.shownUntil) return next;
    next.catch(() => undefined); // The next reader gets the error.
    return latest;
  }

  private async renew(): Promise<CachedValue<Value>> {
    const at = clock.now();
    const begun = performance.now();
    const value = await this.evaluate();
    const ended = performance.now();
    const freshMs = Math.max(this.leastMs(), REST * (ended - begun));
    this.latest = { value, at, freshUntil: ended + freshMs, shownUntil: ended + 2 * freshMs };
    return this.latest;
  }
}

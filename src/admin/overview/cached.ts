import { clock } from '../../platform/database/clock';

/** Minimum age of a value in evaluation times. Reevaluations take at most 5 % of the time. */
const REST = 20;

/** A value with the time of its evaluation. */
export interface CachedValue<Value> {
  value: Value;
  at: Date;
}

/**
 * Evaluates a value once for all readers. A value is fresh for `leastMs`, or for twenty times its evaluation
 * time if that is longer. For the same time again, a stale value is served during its reevaluation.
 */
export class Cached<Value> {
  private latest: (CachedValue<Value> & { freshUntil: number; shownUntil: number }) | undefined;
  private evaluating: Promise<CachedValue<Value>> | undefined;

  /** @param leastMs the minimum age, read at each evaluation. */
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
    next.catch(() => undefined); // rethrown to the next reader
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

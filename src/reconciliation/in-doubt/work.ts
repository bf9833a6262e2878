import { setImmediate } from 'node:timers/promises';

/** Work in pieces. Each piece yields the number of its comparisons. */
export type Work<Result> = Generator<number, Result, void>;

/** Maximum number of comparisons per round. The next round judges the rest. */
const MOST_PER_ROUND = 2_000_000;

/** Comparisons between two turns of the event loop: a few milliseconds' worth. */
export const STRETCH = 500;

/** Does work without blocking the event loop, up to the effort of one round or an abort. */
export class Effort {
  /** Comparisons so far. */
  done = 0;
  /** Longest stretch without a turn of the event loop, in comparisons. */
  longestStretch = 0;
  private stretch = 0;
  private begunAt = 0;

  constructor(
    /** Stops the work when the process stops. */
    readonly signal = new AbortController().signal,
    private readonly most = MOST_PER_ROUND,
  ) {}

  /** Starts to count the effort of a round. */
  begin(): void {
    this.begunAt = this.done;
  }

  /** Returns whether to start no more work. */
  get isSpent(): boolean {
    return this.done - this.begunAt >= this.most;
  }

  /**
   * Runs all pieces of some work.
   * @throws the signal's reason as soon as it is aborted. The next round repeats the work.
   */
  async all<Result>(work: Work<Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      this.done += value;
      this.stretch += value;
      this.longestStretch = Math.max(this.longestStretch, this.stretch);
      if (this.stretch >= STRETCH) await this.pause();
    }
  }

  private async pause(): Promise<void> {
    this.stretch = 0;
    await setImmediate(undefined, { signal: this.signal });
  }
}

/** Maps each value. */
export function* mapped<Value, Result>(
  values: Iterable<Value>,
  make: (value: Value) => Result,
): Work<Result[]> {
  const results: Result[] = [];
  yield* each(values, (value) => results.push(make(value)));
  return results;
}

/** Visits values, in pieces of a hundred. */
export function* each<Value>(values: Iterable<Value>, visit: (value: Value) => void): Work<void> {
  let since = 0;
  for (const value of values) {
    visit(value);
    if ((since += 1) < 100) continue;
    yield since;
    since = 0;
  }
}

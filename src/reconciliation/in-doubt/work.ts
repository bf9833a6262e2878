import { setImmediate } from 'node:timers/promises';

/** Work in pieces. Each piece says how many comparisons it took. */
export type Work<Result> = Generator<number, Result, void>;

/** Comparisons by which the calls of one round are judged. What is left is judged in the next one. */
const MOST_PER_ROUND = 2_000_000;

/** Comparisons after which the event loop gets its turn: about a millisecond's worth. */
export const STRETCH = 2_000;

/** Does work without keeping the event loop, and knows when there was enough for one round. */
export class Effort {
  /** Comparisons so far. */
  done = 0;
  /** The most comparisons that were made without a turn of the event loop. */
  longestStretch = 0;
  private stretch = 0;
  private begunAt = 0;

  constructor(
    private readonly signal?: AbortSignal,
    private readonly most = MOST_PER_ROUND,
  ) {}

  /** From here on it counts what is enough for a round. */
  begin(): void {
    this.begunAt = this.done;
  }

  /** Whether nothing more should be begun. */
  get isSpent(): boolean {
    return this.done - this.begunAt >= this.most || this.signal?.aborted === true;
  }

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
    await setImmediate();
  }
}

/** Makes something of each value. */
export function* mapped<Value, Result>(values: Iterable<Value>, make: (value: Value) => Result): Work<Result[]> {
  const results: Result[] = [];
  yield* each(values, (value) => results.push(make(value)));
  return results;
}

/** Goes through values, a piece for each hundred of them. */
export function* each<Value>(values: Iterable<Value>, visit: (value: Value) => void): Work<void> {
  let since = 0;
  for (const value of values) {
    visit(value);
    if ((since += 1) < 100) continue;
    yield since;
    since = 0;
  }
}

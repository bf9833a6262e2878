import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { clock, DatabaseClock } from './clock';

/** Bound of a counter's start. The counter of the package uuid has 32 bits, and begins in the lower half. */
const HALF = 2 ** 31;
const END = 2 ** 32;

/** Random words fetched at once. A call to the source of randomness takes longer than the rest of an ID. */
const RANDOM_WORDS = 256;

/**
 * Makes IDs with the database's time, whatever the clock of this machine shows. Each ID of a process is
 * larger than the one before. If the database's clock is set back, IDs keep the last time and count on. IDs
 * of two processes are in the order of their creation, within the error of their clocks (milliseconds).
 */
export class IdSource {
  private readonly random = new Uint32Array(RANDOM_WORDS);
  private usedWords = RANDOM_WORDS;
  private lastMs = -Infinity;
  private count = 0;
  /** Whether the last ID has the database's time. */
  private wasCompared = false;

  constructor(private readonly time: Pick<DatabaseClock, 'nowMs' | 'isCompared'>) {}

  next(): string {
    const { isCompared } = this.time;
    const ms = Math.floor(this.time.nowMs());
    // An ID from before the first comparison may be far ahead, and no record has it.
    if (ms > this.lastMs || (isCompared && !this.wasCompared)) this.begin(ms);
    else this.count += 1;
    if (this.count === END) this.begin(this.lastMs + 1);
    this.wasCompared = isCompared;
    // With its own state, uuid would use the clock of this machine.
    return v7({ msecs: this.lastMs, seq: this.count | 0 });
  }

  private begin(ms: number): void {
    this.lastMs = ms;
    this.count = this.randomWord() % HALF;
  }

  private randomWord(): number {
    if (this.usedWords === RANDOM_WORDS) {
      randomFillSync(this.random);
      this.usedWords = 0;
    }
    return this.random[this.usedWords++]!;
  }
}

const ids = new IdSource(clock);

/** Returns a new UUIDv7 for a record. */
export function newId(): string {
  return ids.next();
}

import { LRUCache } from 'lru-cache';

/** Long bodies with faults that one key may send without a pause. */
export const BURST = 5;

/** Interval of the next ones. Reading one takes about 15 ms of the processor. */
export const PAUSE_MS = 1_000;

/** Longest delay. Senders usually wait for half a minute. */
export const LONGEST_DELAY_MS = 5_000;

/** Cache size. Above the number of keys that send faults at once. */
const MAX_KEYS = 10_000;

/** Slows down keys that keep sending long bodies with faults. A valid long body ends that. */
export class FaultThrottle {
  /** The time of each key's next body, without a burst. Monotonic, in milliseconds. */
  private readonly nextAt = new LRUCache<string, number>({ max: MAX_KEYS });

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Takes the key's next turn, unless it is too far away. @returns the delay in milliseconds. */
  delayOf(keyId: string): number {
    const nextAt = this.nextAt.get(keyId);
    if (nextAt === undefined) return 0;
    const delay = nextAt - this.now() - BURST * PAUSE_MS;
    // the one after it comes later
    if (delay > 0 && delay <= LONGEST_DELAY_MS) this.nextAt.set(keyId, nextAt + PAUSE_MS);
    return Math.max(0, delay);
  }

  noteFaults(keyId: string, wasDelayed: boolean): void {
    if (wasDelayed) return; // it was counted by its delay
    this.nextAt.set(keyId, Math.max(this.now(), this.nextAt.get(keyId) ?? 0) + PAUSE_MS);
  }

  noteValid(keyId: string): void {
    this.nextAt.delete(keyId);
  }
}

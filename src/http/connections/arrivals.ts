/** Shortest slice of a turn of the event loop for new requests, in ms. */
const LEAST_SLICE_MS = 5;

/** Most requests that begin in one turn. */
const MOST_BEGUN = 1_024;

/** Each of these waits of the oldest request makes a slice longer by the other work of its turn, in ms. */
const GROWS_EVERY_MS = 50;

/** Largest slice, in times of the other work of the turn. */
const LARGEST_SHARE = 4;

interface Arrival {
  begin: () => void;
  at: number;
}

/**
 * Lets new requests begin in slices: half of each turn of the event loop, and more once they wait, up to four
 * fifths. A request that was admitted needs about ten turns. Without slices, a turn of a flood begins
 * thousands of requests, and takes a second. With a constant share, a flood that exceeds it waits for as long
 * as it lasts, and so do its refusals.
 */
export class Arrivals {
  /** Oldest first. */
  private readonly waiting: Arrival[] = [];
  /** Steps of this turn that are still to run. */
  private steps = 0;
  private isInSlice = false;
  private sliceEndsAt = 0;
  /** End of the last slice, if it left requests. The rest of the turn followed it without a pause. */
  private leftAt: number | undefined;

  constructor(private readonly nowMs = () => performance.now()) {}

  /** Calls back in a slice. Requests begin in the order of their calls. */
  turn(begin: () => void): void {
    this.waiting.push({ begin, at: this.nowMs() });
    this.planStep();
  }

  /** Plans a step in this turn. Each is a callback of its own, so its promises are settled in its time. */
  private planStep(): void {
    if (this.steps === MOST_BEGUN) return;
    this.steps += 1;
    setImmediate(() => this.step());
  }

  private step(): void {
    const now = this.nowMs();
    if (!this.isInSlice) this.beginSlice(now);
    this.steps -= 1;
    try {
      if (now < this.sliceEndsAt) this.waiting.shift()?.begin();
    } finally {
      if (this.steps === 0) this.endSlice();
    }
  }

  private beginSlice(now: number): void {
    this.isInSlice = true;
    const othersMs = now - (this.leftAt ?? now);
    const waitedMs = now - (this.waiting[0]?.at ?? now);
    const share = Math.min(LARGEST_SHARE, 1 + waitedMs / GROWS_EVERY_MS);
    this.sliceEndsAt = now + Math.max(LEAST_SLICE_MS, othersMs * share);
  }

  private endSlice(): void {
    this.isInSlice = false;
    this.leftAt = this.waiting.length > 0 ? this.nowMs() : undefined;
    for (let planned = Math.min(this.waiting.length, MOST_BEGUN); planned > 0; planned -= 1) this.planStep();
  }
}

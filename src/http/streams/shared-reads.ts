import { LRUCache } from 'lru-cache';

/** Cache size. Above the number of subjects that streams follow at once. */
const MAX_THINGS = 1_000;

interface SharedRead<Value> {
  at: number;
  value: Promise<Value>;
}

/** Shares reads between streams that follow the same subject. */
export class SharedReads<Value> {
  private readonly readings = new LRUCache<string, SharedRead<Value>>({ max: MAX_THINGS });

  /** @param freshMs the age up to which a value is shared. Streams read as often as that, or less often. */
  constructor(private readonly freshMs: number) {}

  /** Returns the value of a subject, and reads it unless it was read a moment ago. */
  read(thing: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.readings.get(thing);
    if (known && performance.now() - known.at < this.freshMs) return known.value;
    const reading = { at: performance.now(), value: read() };
    this.readings.set(thing, reading);
    return reading.value;
  }
}

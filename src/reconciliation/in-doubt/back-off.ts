const HOUR_MS = 3_600_000;

/** A call that is in doubt for so long, and of which that was said, is left to a person: each look would reach further back. */
const LEFT_AFTER_MS = 7 * 24 * HOUR_MS;

/** Of an older call, nobody tells any more. */
const RECENT_MS = HOUR_MS;

interface Waiting {
  sentAt: number;
  at: number;
  waitMs: number;
  polledAt: number;
}

/** When each call in doubt is looked at again: twice as long later each time, up to an hour. After a restart, at once. */
export class BackOff {
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly firstMs: number) {}

  /** @param sentFrom of the call. */
  isDue(id: string, sentFrom: Date, now: number): boolean {
    const waiting = this.waiting.get(id);
    if (!waiting) return true;
    return waiting.at <= now && now - sentFrom.getTime() < LEFT_AFTER_MS;
  }

  /** Notes that a call was looked at. @param quietAt when its quiet period is over: it is looked at then, whatever the wait. */
  polled(id: string, sentFrom: Date, now: number, quietAt: number): void {
    const before = this.waiting.get(id);
    const waitMs = before ? Math.min(2 * before.waitMs, Math.max(HOUR_MS, this.firstMs)) : this.firstMs;
    const at = quietAt > now ? Math.min(now + waitMs, quietAt) : now + waitMs;
    this.waiting.set(id, { sentAt: sentFrom.getTime(), at, waitMs, polledAt: now });
  }

  /** Returns ids in the order in which they should be looked at: those first that were not, or longest ago. */
  inTurn(ids: string[]): string[] {
    const polledAt = (id: string) => this.waiting.get(id)?.polledAt ?? 0;
    return [...ids].sort((one, other) => polledAt(one) - polledAt(other));
  }

  /** Something is said to have happened: what was sent within the last hour is due. */
  hurry(now: number): void {
    for (const waiting of this.waiting.values()) if (now - waiting.sentAt < RECENT_MS) waiting.at = now;
  }

  /** Forgets what is in doubt no more. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.waiting.keys()) if (!ids.has(id)) this.waiting.delete(id);
  }
}

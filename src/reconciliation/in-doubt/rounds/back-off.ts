const HOUR_MS = 3_600_000;

/** Age after which a call in doubt is left to a person, because polls would reach ever further back. */
const LEFT_AFTER_MS = 7 * 24 * HOUR_MS;

/** Longest wait after a failure of the upstream. Calls are settled soon after it recovers. */
const FAILED_MOST_MS = 60_000;

/** Age after which no news is expected. */
const RECENT_MS = HOUR_MS;

interface PollSchedule {
  sentAt: number;
  at: number;
  waitMs: number;
  polledAt: number;
}

/**
 * Decides when each call in doubt is polled next. The wait doubles each time, up to an hour, or up to a
 * minute while the upstream fails. After a restart, every call is due at once.
 */
export class BackOff {
  private readonly waiting = new Map<string, PollSchedule>();

  constructor(private readonly firstMs: number) {}

  /** Returns whether to poll a call now. True for a call that was never polled. */
  isDue(id: string, now: number): boolean {
    const waiting = this.waiting.get(id);
    if (!waiting) return true;
    // A database clock that was set back ends the wait.
    const isOver = waiting.at <= now || waiting.polledAt > now;
    return isOver && now - waiting.sentAt < LEFT_AFTER_MS;
  }

  /** Returns the time at which a call was sent, in ms since the epoch. Undefined if it was never polled. */
  sentAt(id: string): number | undefined {
    return this.waiting.get(id)?.sentAt;
  }

  /**
   * Records that a call was polled, or that the upstream failed meanwhile.
   * @param dueAt end of its quiet period, at which the call is due in any case.
   */
  polled(id: string, sentFrom: Date, now: number, dueAt: number, hasFailed = false): void {
    const most = Math.max(hasFailed ? FAILED_MOST_MS : HOUR_MS, this.firstMs);
    const before = this.waiting.get(id);
    const waitMs = before ? Math.min(2 * before.waitMs, most) : this.firstMs;
    const at = Math.min(now + waitMs, dueAt > now ? dueAt : Infinity);
    this.waiting.set(id, { sentAt: sentFrom.getTime(), at, waitMs, polledAt: now });
  }

  /** Sorts IDs for polling: never polled first, then the longest ago. */
  inTurn(ids: string[]): string[] {
    const polledAt = (id: string) => this.waiting.get(id)?.polledAt ?? 0;
    return [...ids].sort((one, other) => polledAt(one) - polledAt(other));
  }

  /** Makes calls of the last hour due, after an event. */
  hurry(now: number): void {
    for (const waiting of this.waiting.values()) if (now - waiting.sentAt < RECENT_MS) waiting.at = now;
  }

  /** Forgets calls that are no longer in doubt. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.waiting.keys()) if (!ids.has(id)) this.waiting.delete(id);
  }
}

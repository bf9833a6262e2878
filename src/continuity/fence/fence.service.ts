import { Injectable, Logger } from '@nestjs/common';

/** Why this instance may not pay or write. */
export const FENCE_REASONS = [
  /** The database lacks commits that this instance has seen: a restored backup, or a standby that lagged behind. */
  'database_behind',
  /** The database has moved to another server, and no instance that knew it before has confirmed that nothing is missing. */
  'database_unconfirmed',
  /** The server or this session may lose commits in a crash, because of its settings. */
  'durability_unsafe',
  /** A commit was not confirmed by the synchronous standby. */
  'replication_unconfirmed',
  /** The clock of this process differs too much from the clock of the database. */
  'clock_skewed',
] as const;
export type FenceReason = (typeof FENCE_REASONS)[number];

/** One reason, and what was seen. */
export interface Fence {
  reason: FenceReason;
  /** What was seen, and what an operator can do. Everyone may read it. */
  detail: string;
}

/**
 * Tells whether this instance must not pay or write. Requests are refused before their admission, and a request that
 * was admitted before is not sent. Reads, the history and the console go on.
 *
 * A fence is about this instance alone. Operators stop all instances with a stop (src/journal/stops/stops.ts).
 */
@Injectable()
export class FenceService {
  private readonly logger = new Logger('Fence');
  private readonly raised = new Map<FenceReason, Fence>();

  get isRaised(): boolean {
    return this.raised.size > 0;
  }

  /** The reasons, the first one first. */
  get reasons(): Fence[] {
    return [...this.raised.values()];
  }

  /** Stops this instance, or replaces the detail of a reason. It takes effect in the same turn of the event loop. */
  raise(reason: FenceReason, detail: string): void {
    const isNew = !this.raised.has(reason);
    this.raised.set(reason, { reason, detail });
    if (isNew) this.logger.error({ reason, detail }, 'this instance has stopped paying and writing');
  }

  /** Takes back one reason. The instance pays again once there is none. */
  lower(reason: FenceReason): void {
    if (!this.raised.delete(reason)) return;
    this.logger.warn({ reason }, this.isRaised ? 'a fence is lowered, others remain' : 'this instance pays again');
  }
}

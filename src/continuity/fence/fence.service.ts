import { Injectable, Logger } from '@nestjs/common';

/** Reasons why this instance may not pay or write. */
export const FENCE_REASONS = [
  /** The database lacks commits that this instance has seen: a restored backup or a lagging standby. */
  'database_behind',
  /** The database is on another server, and no instance with evidence has confirmed its completeness. */
  'database_unconfirmed',
  /** Settings of the server or this session may lose commits in a crash. */
  'durability_unsafe',
  /** The synchronous standby did not confirm a commit. */
  'replication_unconfirmed',
  /** The clocks of this process and the database differ too much. */
  'clock_skewed',
] as const;
export type FenceReason = (typeof FENCE_REASONS)[number];

/** A reason with its details. */
export interface Fence {
  reason: FenceReason;
  /** The observation and the remedy. Public. */
  detail: string;
}

/**
 * Decides whether this instance must not pay or write. Requests are refused before their admission, and
 * requests admitted before are not sent. Reads, the history and the console stay available.
 *
 * A fence is for this instance only. Operators stop all instances with a stop (src/journal/stops/stops.ts).
 */
@Injectable()
export class FenceService {
  private readonly logger = new Logger('Fence');
  private readonly raised = new Map<FenceReason, Fence>();

  get isRaised(): boolean {
    return this.raised.size > 0;
  }

  /** The reasons, oldest first. */
  get reasons(): Fence[] {
    return [...this.raised.values()];
  }

  /** Fences this instance, or replaces the detail of a reason. Takes effect in the same event loop turn. */
  raise(reason: FenceReason, detail: string): void {
    const isNew = !this.raised.has(reason);
    this.raised.set(reason, { reason, detail });
    if (isNew) this.logger.error({ reason, detail }, 'this instance has stopped paying and writing');
  }

  /** Lowers one reason. The instance pays again after the last one. */
  lower(reason: FenceReason): void {
    if (!this.raised.delete(reason)) return;
    this.logger.warn(
      { reason },
      this.isRaised ? 'a fence is lowered, others remain' : 'this instance pays again',
    );
  }
}

import { Permit, Priority } from './permit';
import { ReachedLimit } from './permit-pool';
import { ServiceTime } from './service-time';

/** Numbers of the requests of a priority whose turns come before that of a request. */
export interface RequestsAhead {
  all: number;
  /** Those of the same client. */
  own: number;
}

/** Forecasts when waiting requests get permits, from the permits in use at one moment. */
export class Forecast {
  /** Time for which a permit is held, in ms. */
  readonly expectedMs: Record<Priority, number>;
  /** The times in ms until the permits that a limit counts are returned, in order. */
  private readonly returns = new Map<string, number[]>();

  /** @param permits in the order in which they were taken. */
  constructor(
    private readonly permits: Permit[],
    serviceTimes: Record<Priority, ServiceTime>,
    readonly nowMs: number,
  ) {
    const expected = (priority: Priority) => {
      const newest = permits.findLast((permit) => permit.priority === priority);
      return serviceTimes[priority].expectedMs(newest ? nowMs - newest.takenAt : 0);
    };
    this.expectedMs = { payment: expected('payment'), read: expected('read') };
  }

  /**
   * Returns the time in ms until a request may take a permit.
   * @param limits the limits that it has reached.
   */
  turnMs(priority: Priority, ahead: RequestsAhead, limits: ReachedLimit[]): number {
    const turns = limits.map((limit) => {
      const returns = this.returnsUnder(limit);
      if (returns.length === 0) return 0;
      const before = limit.isOwn ? ahead.own : ahead.all;
      const rounds = Math.floor(before / returns.length);
      return (returns[before % returns.length] ?? 0) + rounds * this.expectedMs[priority];
    });
    return Math.max(...turns);
  }

  private returnsUnder({ name, counts }: ReachedLimit): number[] {
    let returns = this.returns.get(name);
    if (!returns) {
      returns = this.permits.filter(counts).map((permit) => this.returnMs(permit));
      returns.sort((a, b) => a - b);
      this.returns.set(name, returns);
    }
    return returns;
  }

  private returnMs({ priority, takenAt }: Permit): number {
    return Math.max(0, this.expectedMs[priority] - (this.nowMs - takenAt));
  }
}

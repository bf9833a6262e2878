import { clock } from '../../../platform/database/clock';
import { Answer } from '../answers/answer';
import { isUnhealthy } from './circuit';

/** The health of the upstream as observed by this instance since its start. */
export interface Health {
  /** Operations with an open circuit: only probes are sent, because most requests failed. */
  openCircuits: string[];
  /** Time of the last answer to a forwarded request, of any kind. Null without one. */
  lastAnsweredAt: Date | null;
  /** Time of the last failure that shows an unhealthy upstream. Null without one. */
  lastFailureAt: Date | null;
}

/** Records when the upstream answered, and when it failed. */
export class UpstreamHealth {
  private readonly open = new Set<string>();
  private lastAnsweredAt: Date | null = null;
  private lastFailureAt: Date | null = null;

  /** Ignores requests that were not sent for reasons on our side. */
  record(answer: Answer): void {
    if (isUnhealthy(answer)) this.lastFailureAt = clock.now();
    else if (answer.status !== null) this.lastAnsweredAt = clock.now();
  }

  setCircuitOpen(operation: string, open: boolean): void {
    if (open) this.open.add(operation);
    else this.open.delete(operation);
  }

  read(): Health {
    const { lastAnsweredAt, lastFailureAt } = this;
    return { openCircuits: [...this.open].sort(), lastAnsweredAt, lastFailureAt };
  }
}

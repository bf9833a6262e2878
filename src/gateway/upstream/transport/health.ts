import { Answer } from '../answers/answer';
import { isSick } from './circuit';
import { clock } from '../../../platform/database/clock';

/** The health of the upstream, as this instance has seen it since its start. */
export interface Health {
  /** The operations whose circuit is open: only probes are sent, because most requests failed. */
  openCircuits: string[];
  /** When a forwarded request was last answered, whatever the answer. Null if none was. */
  lastAnsweredAt: Date | null;
  /** When a request last failed in a way that shows an unhealthy upstream. Null if none did. */
  lastFailureAt: Date | null;
}

/** Records when the upstream answered, and when it failed. */
export class UpstreamHealth {
  private readonly open = new Set<string>();
  private lastAnsweredAt: Date | null = null;
  private lastFailureAt: Date | null = null;

  /** Ignores requests that were never sent for reasons that are not the upstream's. */
  record(answer: Answer): void {
    if (isSick(answer)) this.lastFailureAt = clock.now();
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

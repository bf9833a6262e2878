import { Answer } from './answer';
import { isSick } from './circuit';

/** How the upstream is, as this instance saw it since it started. */
export interface Health {
  /** Operations of which only probes are sent, as most of their requests failed. */
  openCircuits: string[];
  /** When a forwarded request was last answered, whatever the answer; null: none was. */
  lastAnsweredAt: Date | null;
  /** When one last failed for what says that the upstream is ill; null: none did. */
  lastFailureAt: Date | null;
}

/** Remembers when it answered, and when it failed. */
export class UpstreamHealth {
  private readonly open = new Set<string>();
  private lastAnsweredAt: Date | null = null;
  private lastFailureAt: Date | null = null;

  /** What was never sent, for what is no fault of the upstream's, says nothing of it. */
  record(answer: Answer): void {
    if (isSick(answer)) this.lastFailureAt = new Date();
    else if (answer.status !== null) this.lastAnsweredAt = new Date();
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

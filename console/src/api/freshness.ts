/** Data on the page that cannot be refreshed at the moment. */
interface StaleData {
  /** When the oldest of it was confirmed, in milliseconds since the epoch. Undefined if none was shown. */
  since: number | undefined;
}

/** Tracks stale data, so that every page reports it in the same way. */
export class Freshness {
  private readonly sources = new Map<string, number | undefined>();
  private readonly listeners = new Set<() => void>();
  private snapshot: StaleData | undefined;

  /** @param confirmedAt when the source was last confirmed. Undefined if never. */
  markStale(source: string, confirmedAt: number | undefined): void {
    if (this.sources.has(source) && this.sources.get(source) === confirmedAt) return;
    this.sources.set(source, confirmedAt);
    this.tell();
  }

  /** Removes a source that is fresh again or no longer shown. */
  markFresh(source: string): void {
    if (this.sources.delete(source)) this.tell();
  }

  /** Returns the same object until something changes. Undefined if all data is fresh. */
  read = (): StaleData | undefined => this.snapshot;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    const times = [...this.sources.values()].filter((time) => time !== undefined);
    const since = times.length === 0 ? undefined : Math.min(...times);
    this.snapshot = this.sources.size === 0 ? undefined : { since };
    for (const listener of this.listeners) listener();
  }
}

export const freshness = new Freshness();

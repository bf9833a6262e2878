/** Data that a page shows although it cannot be confirmed now. */
interface StaleData {
  /** When the oldest of it was last confirmed, in milliseconds since 1970. Undefined if none of it was ever shown. */
  since: number | undefined;
}

/** Tracks data that cannot be updated now, so that every page reports it in the same way. */
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

  /** Removes a source that is up to date again, or that nobody shows any more. */
  markFresh(source: string): void {
    if (this.sources.delete(source)) this.tell();
  }

  /** Returns the same object until something changes. Undefined if all shown data is up to date. */
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

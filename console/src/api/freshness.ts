/** What a page shows although it can no longer be confirmed. */
export interface Outdated {
  /** When the oldest of it was last confirmed, in milliseconds since 1970; undefined if nothing of it was ever shown. */
  since: number | undefined;
}

/** Keeps what cannot be brought up to date at the moment, so that every page can say so in the same way. */
export class Freshness {
  private readonly sources = new Map<string, number | undefined>();
  private readonly listeners = new Set<() => void>();
  private snapshot: Outdated | undefined;

  /** @param confirmedAt when the source was last known to be right; undefined if it never was. */
  outdated(source: string, confirmedAt: number | undefined): void {
    if (this.sources.has(source) && this.sources.get(source) === confirmedAt) return;
    this.sources.set(source, confirmedAt);
    this.tell();
  }

  /** The source is right again, or nobody looks at it any more. */
  current(source: string): void {
    if (this.sources.delete(source)) this.tell();
  }

  /** The same object until something changes. Undefined: all that is shown is up to date. */
  read = (): Outdated | undefined => this.snapshot;

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

import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { isOutage } from './problem';

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

/** Whether something that this page shows is out of date because the proxy or its database cannot be reached. */
export const useOutdated = () => useSyncExternalStore(freshness.subscribe, freshness.read);

/** Follows all queries. Once one of them succeeds again, those that failed are asked again too. */
export function watchQueries(queries: QueryClient, of: Freshness = freshness): void {
  const cache = queries.getQueryCache();
  cache.subscribe((event) => {
    const { query } = event;
    const source = query.queryHash;
    if (event.type === 'removed' || (event.type === 'observerRemoved' && query.getObserversCount() === 0)) {
      of.current(source);
    } else if (event.type === 'updated') {
      const { action } = event;
      if (action.type === 'success') {
        const wasOut = of.read() !== undefined;
        of.current(source);
        if (wasOut) void queries.refetchQueries({ type: 'active', predicate: ({ state }) => isOutage(state.error) });
      } else if (action.type === 'failed' || action.type === 'error') {
        if (isOutage(action.error)) of.outdated(source, query.state.dataUpdatedAt || undefined);
        else of.current(source);
      }
    }
  });
}
